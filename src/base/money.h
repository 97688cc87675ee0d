// Money, twice on purpose: planning compares fractions of a micro-dollar as doubles (Dollars); the ledger adds what was
// billed as integers (PicoDollars), so that the sum does not depend on the order.
#pragma once
#include <compare>
#include <cstdint>

namespace sluice {

using Dollars = double;  // planning only

class PicoDollars {
 public:
  constexpr PicoDollars() = default;
  constexpr explicit PicoDollars(std::int64_t value) : value_(value) {}
  // REQUIRES: |dollars| < 9.2 million. Rounds to the nearest pico-dollar.
  [[nodiscard]] static constexpr PicoDollars from_dollars(double dollars) {
    return PicoDollars(static_cast<std::int64_t>(dollars * 1e12 + (dollars < 0 ? -0.5 : 0.5)));
  }
  [[nodiscard]] constexpr std::int64_t count() const { return value_; }
  [[nodiscard]] constexpr double to_dollars() const { return static_cast<double>(value_) / 1e12; }

  friend constexpr auto operator<=>(PicoDollars, PicoDollars) = default;
  friend constexpr PicoDollars operator+(PicoDollars a, PicoDollars b) { return PicoDollars(a.value_ + b.value_); }
  friend constexpr PicoDollars operator-(PicoDollars a, PicoDollars b) { return PicoDollars(a.value_ - b.value_); }
  constexpr PicoDollars& operator+=(PicoDollars other) { return *this = *this + other; }

 private:
  std::int64_t value_ = 0;
};

}  // namespace sluice
