// Brute force on whole workflows: every assignment of candidates to the stages of a series-parallel tree is evaluated.
// The oracle of the frontier algebra on small workflows.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "plan/candidate.h"
#include "plan/evaluate.h"

namespace sluice::plan {

struct TreeQuestion {
  const SeriesParallelTree& tree;
  std::span<const Candidates> stages;    // by stage; only those in the tree matter
  std::span<const StageScale> scales{};  // by stage; none: 1 everywhere
};

struct Assignment {
  Totals totals;
  std::vector<std::uint32_t> candidates;  // by stage: position in its Candidates; 0 for stages outside the tree
};

// The assignments nobody matches or beats in both ms and cost, by ms ascending; of equal ones the lowest candidates.
// The cheapest within a budget is the last that fits. None if a stage has no candidate. An error names the number of
// assignments if it is above kBruteForcePathsMax.
[[nodiscard]] Result<std::vector<Assignment>> brute_force_frontier(const TreeQuestion& question);

}  // namespace sluice::plan
