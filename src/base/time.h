// Time and Duration: integer nanoseconds that cannot be mixed up with plain numbers or with each other.
// `Time` counts from the Unix epoch; drivers make it monotone. Nothing here reads a clock.
#pragma once
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

class Duration {
 public:
  constexpr Duration() = default;
  [[nodiscard]] static constexpr Duration ns(std::int64_t value) { return Duration(value); }
  // Rounds to the nearest nanosecond, halves away from zero. REQUIRES: the result fits (about 292 years).
  [[nodiscard]] static constexpr Duration us(double value) { return rounded(value * 1e3); }
  [[nodiscard]] static constexpr Duration ms(double value) { return rounded(value * 1e6); }
  [[nodiscard]] static constexpr Duration s(double value) { return rounded(value * 1e9); }
  [[nodiscard]] static constexpr Duration max() { return Duration(std::numeric_limits<std::int64_t>::max()); }

  [[nodiscard]] constexpr std::int64_t count_ns() const { return ns_; }
  [[nodiscard]] constexpr double to_us() const { return static_cast<double>(ns_) / 1e3; }
  [[nodiscard]] constexpr double to_ms() const { return static_cast<double>(ns_) / 1e6; }
  [[nodiscard]] constexpr double to_s() const { return static_cast<double>(ns_) / 1e9; }

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return Duration(a.ns_ + b.ns_); }
  friend constexpr Duration operator-(Duration a, Duration b) { return Duration(a.ns_ - b.ns_); }
  friend constexpr Duration operator-(Duration a) { return Duration(-a.ns_); }
  friend constexpr Duration operator*(Duration a, double factor) {
    return rounded(static_cast<double>(a.ns_) * factor);
  }
  friend constexpr double operator/(Duration a, Duration b) {
    return static_cast<double>(a.ns_) / static_cast<double>(b.ns_);
  }
  constexpr Duration& operator+=(Duration other) { return *this = *this + other; }
  constexpr Duration& operator-=(Duration other) { return *this = *this - other; }

 private:
  constexpr explicit Duration(std::int64_t ns) : ns_(ns) {}
  [[nodiscard]] static constexpr Duration rounded(double ns) {
    return Duration(static_cast<std::int64_t>(ns < 0 ? ns - 0.5 : ns + 0.5));
  }
  std::int64_t ns_ = 0;
};

class Time {
 public:
  constexpr Time() = default;
  [[nodiscard]] static constexpr Time from_ns(std::int64_t unix_ns) { return Time(unix_ns); }
  [[nodiscard]] static constexpr Time max() { return Time(std::numeric_limits<std::int64_t>::max()); }
  [[nodiscard]] constexpr std::int64_t count_ns() const { return ns_; }

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time t, Duration d) { return Time(t.ns_ + d.count_ns()); }
  friend constexpr Time operator-(Time t, Duration d) { return Time(t.ns_ - d.count_ns()); }
  friend constexpr Duration operator-(Time a, Time b) { return Duration::ns(a.ns_ - b.ns_); }
  constexpr Time& operator+=(Duration d) { return *this = *this + d; }

 private:
  constexpr explicit Time(std::int64_t ns) : ns_(ns) {}
  std::int64_t ns_ = 0;
};

// "420ms", "1.5s", "2m", "3h", "250us", "10ns". A unit is required; nothing else may follow. Nothing if it is not a
// duration or does not fit.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);
// The shortest form that parse_duration reads back to the same value: "420ms", "1.5s".
[[nodiscard]] std::string to_string(Duration duration);

}  // namespace sluice
