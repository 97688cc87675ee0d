// Dominance filters: which candidates of one stage a planner can forget without losing anything.
// Two candidates that are equal in everything compared: the lowest configuration stays, so that results repeat.
#pragma once
#include <span>

#include "plan/candidate.h"

namespace sluice::plan {

// The candidates that no other one matches or beats in both ms and cost, by ms ascending (so cost descending).
// Keeps the cheapest plan for every budget; not the second best, and it drops configurations that would fit a node
// where the dominating one does not. O(n log n).
[[nodiscard]] Candidates pareto(std::span<const Candidate> candidates);

// As above, but a candidate is dropped only for one that is no worse in ms, cost, batch, vCPUs and slices on the same
// device: whenever the dropped one could start, the other one could. For batch, no worse means no larger: a smaller
// batch needs fewer waiting invocations, and as cost is per invocation nothing is lost by splitting the larger one.
// By ms ascending. O(n · kept): 256 candidates take microseconds, 100,000 seconds.
[[nodiscard]] Candidates available_pareto(std::span<const Candidate> candidates);

}  // namespace sluice::plan
