#include "cli/problems.h"

#include <fmt/format.h>

#include "cli/terminal.h"

namespace sluice::cli {

std::string problems(const spec::Loaded& loaded) {
  std::string out;
  std::size_t shown = 0;
  for (const spec::Diagnostic& d : loaded.diagnostics.sorted()) {
    out += to_string(d) + "\n";
    shown += d.severity == spec::Diagnostic::Severity::error;
  }
  if (loaded.document) return out;
  const std::size_t errors = loaded.diagnostics.errors();
  return out + fmt::format("{} {}: {} error{}{}\n", red("error:"), loaded.file, errors, errors == 1 ? "" : "s",
                           errors > shown ? fmt::format(", the first {} shown", shown) : "");
}

}  // namespace sluice::cli
