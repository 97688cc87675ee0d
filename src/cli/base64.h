// Base64 (RFC 4648, with padding), for the files of a deployment.
#pragma once
#include <string>
#include <string_view>

namespace sluice::cli {

[[nodiscard]] std::string to_base64(std::string_view bytes);

}  // namespace sluice::cli
