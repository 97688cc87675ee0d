// Functions of real numbers that the profile needs, built from basic operations so that they give the same bits with
// every compiler and library (the standard library's exp and pow do not).
#pragma once

namespace sluice::profile {

// e^x; about 1e-15 relative. REQUIRES: |x| ≤ 700.
[[nodiscard]] double portable_exp(double x);
// x^y; about 1e-14 relative. REQUIRES: x > 0 and |y · log x| ≤ 700.
[[nodiscard]] double portable_pow(double x, double y);

// How many standard deviations above the mean `percentile` per cent of a normal distribution lie: 0 for 50, 1.645
// for 95. REQUIRES: 0 < percentile < 100.
[[nodiscard]] double normal_quantile(double percentile);
// The density of the standard normal distribution at z.
[[nodiscard]] double normal_density(double z);
// The share of the standard normal distribution below z; about 1e-13 relative, also far out in the lower tail.
[[nodiscard]] double normal_share_below(double z);

}  // namespace sluice::profile
