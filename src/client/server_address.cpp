#include "client/server_address.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace sluice::client {
namespace {

constexpr std::string_view kUnix = "unix:";

}  // namespace

std::string ServerAddress::text() const {
  if (!path.empty()) return str("unix:", path);
  const std::string bare = host_and_port();
  return tls ? str("https://", bare) : bare;
}

std::string ServerAddress::host_and_port() const {
  return host.find(':') == std::string::npos ? str(host, ":", port) : str("[", host, "]:", port);
}

Result<ServerAddress> parse_server(std::string_view text) {
  const std::string_view given = text;
  const Error wrong{
      ErrorCode::invalid,
      str("'", given, "' is no server; write HOST:PORT, https://HOST:PORT or unix:PATH, e.g. 127.0.0.1:8000")};
  if (text.starts_with(kUnix)) {
    if (text.size() == kUnix.size()) return wrong;
    return ServerAddress{.path = std::string(text.substr(kUnix.size()))};
  }
  ServerAddress out;
  out.tls = text.starts_with("https://");
  if (out.tls || text.starts_with("http://")) text.remove_prefix(text.find("//") + 2);
  if (text.ends_with('/')) text.remove_suffix(1);
  std::string_view port;
  const bool bracketed = text.starts_with('[');
  const std::size_t end = bracketed ? text.find(']') : std::min(text.rfind(':'), text.size());
  if (end == std::string_view::npos || text.find('/') != std::string_view::npos) return wrong;
  out.host = bracketed ? text.substr(1, end - 1) : text.substr(0, end);
  const std::string_view rest = text.substr(bracketed ? end + 1 : end);
  if (!rest.empty()) {
    port = rest.substr(1);
    const auto number = parse_int(port);
    if (rest.front() != ':' || !number || *number < 1 || *number > 65535) return wrong;
    out.port = port;
  }
  if (out.host.empty() || (!bracketed && out.host.find(':') != std::string::npos)) return wrong;
  return out;
}

std::string url_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4u];
      out += kDigits[byte & 15u];
    }
  }
  return out;
}

}  // namespace sluice::client
