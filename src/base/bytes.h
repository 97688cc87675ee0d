// Bytes: an amount of memory or data, so that it cannot be mixed up with a count.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t value) : value_(value) {}
  [[nodiscard]] static constexpr Bytes mb(double value) { return Bytes(static_cast<std::int64_t>(value * 1e6)); }
  [[nodiscard]] static constexpr Bytes gb(double value) { return Bytes(static_cast<std::int64_t>(value * 1e9)); }
  [[nodiscard]] constexpr std::int64_t count() const { return value_; }
  [[nodiscard]] constexpr double to_gb() const { return static_cast<double>(value_) / 1e9; }

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.value_ + b.value_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.value_ - b.value_); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes(a.value_ * n); }
  constexpr Bytes& operator+=(Bytes other) { return *this = *this + other; }
  constexpr Bytes& operator-=(Bytes other) { return *this = *this - other; }

 private:
  std::int64_t value_ = 0;
};

// "600MB", "2.5GB", "147KB", "12B" (powers of 1000), "512MiB", "40GiB" (powers of 1024). A unit is required.
[[nodiscard]] std::optional<Bytes> parse_bytes(std::string_view text);
// A form that parse_bytes reads back to the same value.
[[nodiscard]] std::string to_string(Bytes bytes);

}  // namespace sluice
