#include "profile/portable_math.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"

namespace sluice::profile {
namespace {

constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;

constexpr double kFarOut = 37;  // the density beyond is below 1e-297

// The probability of (0, z): density · (z + z³/3 + z⁵/(3·5) + …), all terms positive for z > 0, so nothing cancels.
double mass_up_to(double z) {
  double term = z, sum = z;
  for (int odd = 3; term > sum * 1e-17; odd += 2) {
    term *= z * z / odd;
    sum += term;
  }
  return normal_density(z) * sum;
}

// The share above z ≥ 2: density / (z + 1 / (z + 2 / (z + 3 / …))), from the inside out. The series above would cancel.
double share_above(double z) {
  constexpr int kTerms = 80;  // at z = 2 the rest is below 1e-14
  double fraction = z;
  for (int n = kTerms; n >= 1; --n) fraction = z + n / fraction;
  return normal_density(z) / fraction;
}

}  // namespace

double portable_exp(double x) {
  CHECK(std::abs(x) <= 700);
  // x = k·ln 2 + r with |r| ≤ ln 2 / 2; ln 2 in two parts, the first with so few bits that k times it is exact.
  constexpr double kLog2High = 0x1.62e42feep-1, kLog2Low = 0x1.a39ef35793c76p-33;
  const double k = std::floor(x * 1.44269504088896340736 + 0.5);
  const double r = (x - k * kLog2High) - k * kLog2Low;
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + r / n * sum;  // r^15 / 15! is below 1e-19
  return std::ldexp(sum, static_cast<int>(k));
}

double portable_pow(double x, double y) {
  return portable_exp(y * portable_log(x));
}

double normal_quantile(double percentile) {
  CHECK(percentile > 0 && percentile < 100);
  if (percentile == 50) return 0;
  if (percentile < 50) return -normal_quantile(100 - percentile);
  const double target = (percentile - 50) / 100;
  // Newton from 0: the mass is concave in z > 0, so every step stays below the answer and the last ones double the
  // digits.
  double z = 0;
  for (int step = 0; step < 100; ++step) {
    const double gain = (target - mass_up_to(z)) / normal_density(z);
    if (gain < 1e-12) break;
    z += gain;
  }
  return z;
}

double normal_density(double z) {
  return std::abs(z) > kFarOut ? 0 : kInverseSqrtTwoPi * portable_exp(-z * z / 2);
}

double normal_share_below(double z) {
  constexpr double kTail = 2;
  if (z <= -kTail) return share_above(-z);
  if (z >= kTail) return 1 - share_above(z);
  return z < 0 ? 0.5 - mass_up_to(-z) : 0.5 + mass_up_to(z);
}

}  // namespace sluice::profile
