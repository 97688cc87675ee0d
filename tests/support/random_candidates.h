// Random small planning problems for property tests.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "plan/candidate.h"

namespace sluice {

// `whole`: ms and cost are small whole numbers, so that sums are exact and ties are common; else any fractions.
inline plan::Candidates random_candidates(Rng& rng, std::size_t count, bool whole) {
  plan::Candidates candidates;
  for (std::size_t i = 0; i < count; ++i) {
    const int batch = 1 << rng.below(4);
    const int vcpu = 1 + static_cast<int>(rng.below(4));
    const int slices = 1 + static_cast<int>(rng.below(3));
    const double ms = whole ? 1 + static_cast<double>(rng.below(12)) : rng.uniform(1, 100);
    const double cost = whole ? 1 + static_cast<double>(rng.below(12)) : rng.uniform(1e-6, 1e-4);
    candidates.push_back({.configuration = configuration(batch, vcpu, slices), .ms = ms, .cost = cost});
  }
  return candidates;
}

// One to four stages of up to six candidates; now and then a stage has none.
inline std::vector<plan::Candidates> random_chain(Rng& rng, bool whole) {
  std::vector<plan::Candidates> stages(1 + rng.below(4));
  for (auto& candidates : stages) candidates = random_candidates(rng, rng.chance(0.02) ? 0 : 1 + rng.below(6), whole);
  return stages;
}

// Budgets that matter: nothing, everything, anything between, and exactly what some path takes, where rounding decides.
inline double random_budget(Rng& rng, const std::vector<plan::Candidates>& stages) {
  double slowest = 0, some_path = 0;
  for (const plan::Candidates& candidates : stages) {
    if (candidates.empty()) continue;
    slowest += std::max_element(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
                 return a.ms < b.ms;
               })->ms;
    some_path += candidates[rng.below(candidates.size())].ms;
  }
  switch (rng.below(6)) {
    case 0:
      return 0;
    case 1:
      return std::numeric_limits<double>::infinity();
    case 2:
      return rng.uniform(0, slowest);
    default:
      return some_path;
  }
}

}  // namespace sluice
