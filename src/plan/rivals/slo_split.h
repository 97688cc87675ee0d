// ESG's distribution of one latency objective over groups of stages, so that ESG_1Q searches short chains only. Used by
// the scheduler `esg`; the frontier plans the whole workflow instead.
//
// The paper groups along the dominator tree. We cut the series-parallel tree, which is the same thing: a stage that is
// a child of a series lies on every path through that series, so it dominates what follows and post-dominates what
// comes before; and what lies between two such stages, from a fork to the nearest common post-dominator of its
// branches, is one parallel or irregular child. So the elements of a dominator chain are the children of a series.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "domain/series_parallel.h"

namespace sluice::plan {

// Stages that are planned together, in the order in which they run.
struct SloGroup {
  std::uint32_t first = 0, count = 0;  // positions in SloSplit::order
  double share = 0;                    // of the objective of the whole request
};

struct SloSplit {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<Graph::Node> order;  // stages, group after group
  std::vector<SloGroup> groups;
  // By stage:
  std::vector<std::uint32_t> position;  // in `order`; kNone: not in the tree
  std::vector<std::uint32_t> group_of;  // in `groups`; likewise
  std::vector<double> group_left;       // weight of the stage and of those after it in its group
  std::vector<double> all_left;         // weight of the heaviest path from the stage, included, to the exit

  // The stage and those after it in its group: what a search for this stage plans. REQUIRES: the stage is in the tree.
  [[nodiscard]] std::span<const Graph::Node> stages_left(Graph::Node stage) const;
  // The budget of that search when `remaining_ms` of the request's time are left: re-split at every stage, so that time
  // won or lost earlier is shared by all that follows. REQUIRES: the stage is in the tree.
  [[nodiscard]] double budget_ms(Graph::Node stage, double remaining_ms) const;
};

// Cuts every series into groups of at most `group_max` consecutive stages; a region stands alone and ends a group. A
// group or region gets its part of the enclosing share by weight, where a region weighs as its heaviest branch; each
// branch of a parallel region gets the region's whole share, a part u of an irregular one
// share · weight(u) / heaviest path through u, so that no path exceeds it.
// A series inside a series counts as a region. Stages that run nothing are members of groups like any other.
// REQUIRES: weights by stage (normalised_length.h), ≥ 0, one for each stage in the tree; group_max ≥ 1.
[[nodiscard]] SloSplit split_slo(const SeriesParallelTree& tree, std::span<const double> weights,
                                 std::size_t group_max = 3);

}  // namespace sluice::plan
