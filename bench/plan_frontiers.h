// The table's second part: what the frontiers of a workflow cost to build, to keep and to ask.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "bench/plan_models.h"

namespace sluice::bench {

struct FrontierFigures {
  std::string name;
  std::size_t stages = 0;
  std::size_t path_stages = 0;
  std::size_t points = 0;
  double build_ms = 0;                             // for every batch cap
  double query_median_us = 0, query_worst_us = 0;  // over stages, queue 32, SLO 1.0 L
  double bound = 0;                                // the largest error bound of any batch cap
};

// Prints a row for each of ESG's applications and for random workflows of 50, 500 and 5,000 stages; the figures in
// that order.
[[nodiscard]] std::vector<FrontierFigures> measure_frontiers(const Effort& effort);

}  // namespace sluice::bench
