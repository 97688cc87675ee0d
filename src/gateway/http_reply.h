// A reply as bytes on the wire, all but the body.
#pragma once
#include <string>
#include <string_view>

#include "gateway/exchange.h"

namespace sluice::gateway {

// Appends status line and headers, the empty line included.
void append_head(std::string& out, const Reply& reply, bool keep_alive);
// When to try again where nothing better is known: for what is busy now, and for what lasts until somebody changes it
// (no machine, a full disk, a server that stops and is started again).
inline constexpr std::string_view kRetrySoon = "Retry-After: 1\r\n", kRetryLater = "Retry-After: 10\r\n";
// {"error": text} with this status; 503 with kRetryLater.
[[nodiscard]] Reply error_reply(unsigned status, std::string_view text);

}  // namespace sluice::gateway
