// Where a server is: HOST:PORT in words and back, and text in URLs.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::cli {

struct ServerAddress {
  std::string host = "127.0.0.1";
  std::string port = "8000";
  [[nodiscard]] std::string text() const;  // "127.0.0.1:8000", "[::1]:8000"
};
// "HOST:PORT", "HOST", "[::1]:8000", also with http:// before.
[[nodiscard]] Result<ServerAddress> parse_server(std::string_view text);

// `text` as one part of a path or query.
[[nodiscard]] std::string url_encoded(std::string_view text);

}  // namespace sluice::cli
