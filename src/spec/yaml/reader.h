// YAML text to a Node tree. The only user of yaml-cpp; its exceptions end here.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "spec/diagnostics.h"

namespace sluice::spec {

// One document; nothing, with the reason in `out`, if it is broken, empty, too large or too deep. Aliases are expanded
// and counted, so that a small file cannot become a huge tree.
[[nodiscard]] std::optional<Node> read_yaml(std::string_view text, const std::string& file, Diagnostics& out);

}  // namespace sluice::spec
