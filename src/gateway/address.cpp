#include "gateway/address.h"

#include "base/text.h"

namespace sluice::gateway {

Result<Address> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  const std::int64_t port = colon == std::string_view::npos ? -1 : parse_int(text.substr(colon + 1)).value_or(-1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const bool plain = bracketed || host.find(':') == std::string_view::npos;
  if (host.empty() || !plain || port < 0 || port > 65535) {
    return Error{ErrorCode::invalid,
                 str("cannot listen on '", printable(text), "': expected HOST:PORT, for example 127.0.0.1:8000")};
  }
  return Address{.host = std::string(host), .port = static_cast<std::uint16_t>(port)};
}

std::string to_string(const Address& address) {
  const bool six = address.host.find(':') != std::string::npos;
  return six ? str("[", address.host, "]:", address.port) : str(address.host, ":", address.port);
}

}  // namespace sluice::gateway
