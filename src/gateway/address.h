// Where to listen, as a user writes it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::gateway {

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

// "127.0.0.1:8000", "localhost:8000", "[::1]:8000", "0.0.0.0:0".
[[nodiscard]] Result<Address> parse_address(std::string_view text);
[[nodiscard]] std::string to_string(const Address& address);

}  // namespace sluice::gateway
