// ANL, ESG's average normalised length: how much of a request's time a stage is expected to take. The weights by which
// an objective is split (slo_split.h).
#pragma once
#include <span>
#include <vector>

#include "plan/candidate.h"

namespace sluice::plan {

// By stage: the mean, over the configurations that all stages have, of the stage's share of their summed time; without
// a common configuration, shares of the stages' mean times. A stage without candidates runs nothing and gets 0. The
// others add up to 1, unless nothing takes time.
[[nodiscard]] std::vector<double> average_normalised_lengths(std::span<const Candidates> stages);

}  // namespace sluice::plan
