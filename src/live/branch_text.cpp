#include "live/branch_text.h"

#include <charconv>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::live {

std::string branch_text(const BranchesKnown& known) {
  std::string out;
  for (const auto& [stage, share] : known.shares) out += str("share ", share, " ", stage, "\n");
  for (const auto& [stage, items] : known.items) out += str("items ", items, " ", stage, "\n");
  return out;
}

BranchesKnown branches_of(std::string_view text) {
  BranchesKnown out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t number = line.find(' ') + 1, name = line.find(' ', number) + 1;
    if (number == 0 || name == 0) continue;
    double value = 0;
    const auto read = std::from_chars(line.data() + number, line.data() + name - 1, value);
    if (read.ec != std::errc{} || !(value >= 0)) continue;
    const std::string_view kind = line.substr(0, number - 1);
    if (kind == "share" && value <= 1) out.shares[std::string(line.substr(name))] = value;
    if (kind == "items" && value <= static_cast<double>(limits::foreach_items_max))
      out.items[std::string(line.substr(name))] = value;
  }
  return out;
}

}  // namespace sluice::live
