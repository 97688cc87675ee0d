// Hash: a 64-bit running hash with a fixed definition (FNV-1a over bytes), for content versions and run fingerprints.
// Not for hash tables and not against an adversary.
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace sluice {

class Hash {
 public:
  constexpr void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));  // so that "ab","c" and "a","bc" differ
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  template <std::integral T>
  constexpr void add(T value) {
    auto bits = static_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8) byte(static_cast<unsigned char>(bits & 0xFF));
  }
  // Eight bytes in one step, several times faster; for fields of a fixed size. Not the same hash as add().
  constexpr void add_word(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 32;
  }
  constexpr void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  [[nodiscard]] constexpr std::uint64_t value() const { return state_; }

 private:
  constexpr void byte(unsigned char b) { state_ = (state_ ^ b) * 0x100000001B3u; }
  std::uint64_t state_ = 0xCBF29CE484222325u;
};

}  // namespace sluice
