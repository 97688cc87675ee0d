// Planning for a percentile: the frontier plans with means and a tighter budget, the distribution of the chosen plan is
// verified, and the budget is tightened until the percentile holds.
#pragma once
#include <vector>

#include "plan/distribution.h"
#include "plan/frontier_planner.h"

namespace sluice::plan {

struct PercentileQuestion {
  std::size_t stage = 0;
  BatchCap cap = kNoBatchCap;
  double budget_ms = 0;
  double percentile = 50;  // in (0, 100)
};

struct PercentilePlan {
  bool found = false;
  double mean_budget_ms = 0;    // what was left for means after the margin
  double percentile_ms = 0;     // of the best plan, by convolution
  std::vector<Option> options;  // within mean_budget_ms, by cost
};

// At percentile 50 or below the plan's mean must meet the budget: no margin. Above, the cheapest plan found whose
// distribution meets it. The workspace answers plan_of() for the returned options.
[[nodiscard]] PercentilePlan plan_for_percentile(const FrontierPlanner& planner, const PercentileQuestion& question,
                                                 FrontierWorkspace& workspace);

}  // namespace sluice::plan
