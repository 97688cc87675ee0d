#include "cli/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace sluice::cli {
namespace {

std::string painted(std::string_view text, std::string_view code, int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  if (isatty(descriptor) == 0 || (no_color != nullptr && *no_color != '\0')) return std::string(text);
  std::string out = "\x1b[";
  out += code;
  out += 'm';
  out += text;
  out += "\x1b[0m";
  return out;
}

}  // namespace

std::string green(std::string_view text, int descriptor) {
  return painted(text, "32", descriptor);
}
std::string red(std::string_view text, int descriptor) {
  return painted(text, "31", descriptor);
}
std::string bold(std::string_view text, int descriptor) {
  return painted(text, "1", descriptor);
}

int failed(std::string_view message) {
  std::fflush(stdout);  // what was said before comes first
  std::fprintf(stderr, "%s %.*s\n", red("error:", 2).c_str(), static_cast<int>(message.size()), message.data());
  return 1;
}

}  // namespace sluice::cli
