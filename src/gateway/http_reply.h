// A reply as bytes on the wire, all but the body.
#pragma once
#include <string>
#include <string_view>

#include "gateway/exchange.h"

namespace sluice::gateway {

// Appends status line and headers, the empty line included.
void append_head(std::string& out, const Reply& reply, bool keep_alive);
// {"error": text} with this status.
[[nodiscard]] Reply error_reply(unsigned status, std::string_view text);

}  // namespace sluice::gateway
