// The Matérn 5/2 covariance, written for speed: a search evaluates it fifty million times. Basic operations only, so
// that it is the same bits with every compiler. Used by the Gaussian processes.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace sluice::plan {

// e^-x; about 1e-15 relative, 0 where x is above 700. profile::portable_exp divides in every term; here the terms are
// constants. REQUIRES: x ≥ 0.
[[nodiscard]] inline double decay(double x) {
  if (x > 700) return 0;
  // -x = r - k · ln 2 with |r| ≤ ln 2 / 2; ln 2 in two parts, the first with so few bits that k times it is exact.
  constexpr double kLog2High = 0x1.62e42feep-1, kLog2Low = 0x1.a39ef35793c76p-33;
  const auto k = static_cast<std::int64_t>(x * 1.44269504088896340736 + 0.5);
  const auto turns = static_cast<double>(k);
  const double r = (turns * kLog2High - x) + turns * kLog2Low;
  constexpr auto t = [] {             // NOLINT(readability-identifier-naming): a letter of the formula below
    std::array<double, 14> terms{1};  // 1 / n!
    for (std::size_t n = 1; n < terms.size(); ++n) terms[n] = terms[n - 1] / static_cast<double>(n);
    return terms;
  }();
  // The power series in pairs, pairs of pairs and so on: steps that do not wait for each other.
  const double r2 = r * r, r4 = r2 * r2;
  const double low = ((t[0] + t[1] * r) + (t[2] + t[3] * r) * r2) + ((t[4] + t[5] * r) + (t[6] + t[7] * r) * r2) * r4;
  const double high = ((t[8] + t[9] * r) + (t[10] + t[11] * r) * r2) + (t[12] + t[13] * r) * r4;
  const double sum = low + high * (r4 * r4);
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(1023 - k) << 52);
}

// Of two points at a distance: (1 + √5 d + 5 d² / 3) e^(-√5 d), d = distance / length. REQUIRES: distance ≥ 0.
[[nodiscard]] inline double matern(double distance, double length) {
  const double d = 2.23606797749978969641 * distance / length;
  return (1 + d + d * d / 3) * decay(d);
}

// REQUIRES: equally many coordinates.
[[nodiscard]] inline double distance(std::span<const double> a, std::span<const double> b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

}  // namespace sluice::plan
