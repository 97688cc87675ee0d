// What one assignment of candidates to stages comes to on a whole workflow: the meaning of a series-parallel tree, in
// its plainest form. The oracle of the frontier algebra, so nothing here is clever or fast.
#pragma once
#include <cstdint>
#include <span>

#include "base/money.h"
#include "domain/series_parallel.h"

namespace sluice::plan {

// A stage's chosen candidate, times whatever factors apply to the stage (StageScale).
struct StageTerms {
  double ms = 0;
  Dollars cost = 0;
};

// The factors of a stage. A stage behind a condition costs by its share of the requests, though its latency counts in
// full (the worst branch); a `foreach` runs in waves and costs once per item.
struct StageScale {
  double ms = 1;
  double cost = 1;
  [[nodiscard]] StageTerms of(double stage_ms, Dollars stage_cost) const { return {stage_ms * ms, stage_cost * cost}; }
};
// `items` at most `limit` at a time (0: all at once): ceil(items / limit) waves. `share` is the share of requests.
[[nodiscard]] StageScale foreach_scale(std::uint32_t items, std::uint32_t limit, double share = 1);

struct Totals {
  double ms = 0;
  Dollars cost = 0;
};

// `terms` by stage. Series: sums. Parallel: the `needed`-th smallest ms, all costs, since the slower branches run as
// well. Irregular: each child starts when its predecessors have finished, or `needed` > 0 of them if its first stage
// says so, and the region ends with the last of the children that nothing follows; costs add up. REQUIRES: every stage
// of the tree has terms. Recursive: for trees of modest depth.
[[nodiscard]] Totals evaluate(const SeriesParallelTree& tree, std::span<const StageTerms> terms);

}  // namespace sluice::plan
