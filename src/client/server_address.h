// Where a server is: HOST:PORT or the path of a Unix socket, in words and back, and text in URLs.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::client {

struct ServerAddress {
  std::string host = "127.0.0.1";
  std::string port = "8000";
  std::string path{};  // of a Unix socket; then host and port mean nothing
  bool tls = false;
  std::string ca{};  // PEM file of whoever signed the server's certificate; empty: those that the system trusts
  [[nodiscard]] std::string host_and_port() const;
  [[nodiscard]] std::string text()
      const;  // "127.0.0.1:8000", "[::1]:8000", "https://host:8000", "unix:/run/sluice.sock"
};
// "HOST:PORT", "HOST", "[::1]:8000", also with http:// or https:// before, or "unix:PATH".
[[nodiscard]] Result<ServerAddress> parse_server(std::string_view text);

// `text` as one part of a path or query.
[[nodiscard]] std::string url_encoded(std::string_view text);

}  // namespace sluice::client
