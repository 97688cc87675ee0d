// Base64 (RFC 4648, with padding), for files in deployments and bytes in JSON.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace sluice::gateway {

[[nodiscard]] std::string to_base64(std::string_view bytes);
// Nothing if it is not base64. White space is not allowed.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace sluice::gateway
