// What sampling a point is worth in a constrained Bayesian optimisation. Used by aquatope.cpp.
#pragma once
#include "plan/rivals/gaussian_process.h"

namespace sluice::plan {

// How far a value drawn from the prediction is expected to come out below `best`, where not coming out below counts as
// 0: (best - mean) Φ(z) + sd φ(z), z = (best - mean) / sd. Never negative. REQUIRES: sd > 0.
[[nodiscard]] double expected_improvement(double best, const Prediction& prediction);
// The chance that the modelled function is at most `limit`. REQUIRES: sd > 0.
[[nodiscard]] double probability_within(double limit, const Prediction& prediction);

}  // namespace sluice::plan
