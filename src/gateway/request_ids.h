// RequestIds: what clients see of request ids. Inside they count up; outside they are a permutation of 64 bits with a
// secret key (Speck64/128), so that nobody can guess the id of another's request, or see how many there are.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/ids.h"

namespace sluice::gateway {

class RequestIds {
 public:
  // `secret`: 32 hexadecimal digits, the key of the cipher from its last word to its first. Empty: ids are shown as
  // they are.
  explicit RequestIds(std::string_view secret);

  [[nodiscard]] std::uint64_t outer(std::uint64_t inner) const;
  [[nodiscard]] std::uint64_t inner(std::uint64_t outer) const;

  // 16 lower-case hexadecimal digits, and back.
  [[nodiscard]] std::string text(RequestId id) const;
  void append(std::string& out, RequestId id) const;
  [[nodiscard]] std::optional<RequestId> parse(std::string_view text) const;

 private:
  static constexpr std::size_t kRounds = 27;
  std::array<std::uint32_t, kRounds> round_keys_{};
  bool plain_;
};

}  // namespace sluice::gateway
