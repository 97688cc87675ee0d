// Latency: the answer to "how long", as a mean and a spread. Times are milliseconds in doubles: they are estimates, and
// become a Duration where something is booked.
#pragma once
#include <algorithm>

#include "profile/portable_math.h"

namespace sluice::profile {

struct Latency {
  double mean_ms = 0;
  double sd_ms = 0;
  bool extrapolated = false;  // not measured and not between measured rows (function_profile.h)

  // The time that is exceeded by `deviations` standard deviations; never below 0. For many latencies at one percentile
  // take normal_quantile(percentile) once and use this.
  [[nodiscard]] double at_deviations_ms(double deviations) const { return std::max(0.0, mean_ms + deviations * sd_ms); }
  // The time that `percentile` per cent of executions stay within, as if times were normal; never below 0.
  // REQUIRES: 0 < percentile < 100.
  [[nodiscard]] double quantile_ms(double percentile) const { return at_deviations_ms(normal_quantile(percentile)); }

  friend bool operator==(const Latency&, const Latency&) = default;
};

}  // namespace sluice::profile
