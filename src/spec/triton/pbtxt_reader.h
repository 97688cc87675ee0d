// Protobuf text format (config.pbtxt) to a Node tree, without a schema.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "spec/diagnostics.h"

namespace sluice::spec {

// One message; nothing, with the reason in `out`, if it is broken, empty, too large or too deep. Messages are maps in
// which every key appears once: a field written several times (`step {…} step {…}`), or as a list, or both, becomes one
// sequence; written once, it is the value itself. Without a schema nobody can tell a repeated field that has one value.
[[nodiscard]] std::optional<Node> read_pbtxt(std::string_view text, const std::string& file, Diagnostics& out);

}  // namespace sluice::spec
