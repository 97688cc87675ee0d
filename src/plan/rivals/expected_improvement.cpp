#include "plan/rivals/expected_improvement.h"

#include <algorithm>

#include "profile/portable_math.h"

namespace sluice::plan {

double expected_improvement(double best, const Prediction& prediction) {
  const double z = (best - prediction.mean) / prediction.sd;
  const double gain = (best - prediction.mean) * profile::normal_share_below(z);
  return std::max(0.0, gain + prediction.sd * profile::normal_density(z));  // far below, the two cancel
}

double probability_within(double limit, const Prediction& prediction) {
  return profile::normal_share_below((limit - prediction.mean) / prediction.sd);
}

}  // namespace sluice::plan
