// JSON text to a Node tree. Written by hand because the JSON libraries keep no positions, and errors in ASL documents
// must name line and column.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "spec/diagnostics.h"

namespace sluice::spec {

// One document by RFC 8259, in linear time; nothing, with the reason in `out`, if it is broken, empty, too large or too
// deep. Strings become quoted scalars, numbers, true and false plain ones with their text as written. Duplicate keys
// are kept (Fields reports them). Columns count characters. Refused beside what the RFC refuses: \u0000, a byte order
// mark.
[[nodiscard]] std::optional<Node> read_json(std::string_view text, const std::string& file, Diagnostics& out);

}  // namespace sluice::spec
