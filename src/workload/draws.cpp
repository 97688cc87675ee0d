#include "workload/draws.h"

#include "base/check.h"
#include "base/portable_math.h"

namespace sluice::workload {

std::uint64_t round_at_random(double value, Rng& rng) {
  CHECK(value >= 0 && value <= 0x1.0p53);
  const auto whole = static_cast<std::uint64_t>(value);
  return whole + (rng.chance(value - static_cast<double>(whole)) ? 1 : 0);
}

// P(least > x) = (1 - x)^n, inverted: x = 1 - e^(-E/n) with E exponential.
double least_uniform(std::uint64_t n, Rng& rng) {
  CHECK(n > 0);
  return -portable_expm1(-rng.exponential() / static_cast<double>(n));
}

}  // namespace sluice::workload
