// The table's first part: one decision for the first stage of ESG's applications, by every search.
#pragma once
#include <vector>

#include "bench/plan_models.h"

namespace sluice::bench {

// What the summary needs; three-stage applications and the five-stage one at queue 32, an entry per SLO.
struct SearchFigures {
  std::vector<double> three_stages_us;
  std::vector<double> three_stages_ratio;  // ESG_1Q on 256 configurations over frontier
  std::vector<double> five_stages_us;
};

// Prints a row per application, SLO and queue length. Aborts if the searches disagree on the cheapest plan.
[[nodiscard]] SearchFigures race_searches(const Effort& effort);

}  // namespace sluice::bench
