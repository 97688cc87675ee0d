#include "cli/terminal.h"

#include <unistd.h>

#include <algorithm>
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

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

std::string Table::text(std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - width(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace sluice::cli
