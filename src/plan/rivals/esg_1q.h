// ESG_1Q: the K cheapest configuration paths of a chain within a budget (ESG, HPDC 2024). The baseline that our
// frontier is measured against, so it is faithful: stage by stage, every kept prefix is extended with every
// configuration, and only the dual blades prune. Exact for the best and the K best. Used by the scheduler `esg`.
#pragma once
#include <cstddef>

#include "plan/rivals/search_workspace.h"
#include "plan/rivals/sorted_stages.h"

namespace sluice::plan {

struct EsgQuery {
  double budget_ms = 0;         // not NaN
  std::size_t k = 5;            // ≥ 1
  bool distinct_first = false;  // instead of the K best paths, the best path of each of the K best first configurations
};

// Paths by cost, then ms. REQUIRES: stages built with Keep::all; with Keep::pareto only the best path is exact.
// Caveat: the number of prefixes grows with the product of the stages' candidates. Three stages of 256 take
// milliseconds, five take seconds and gigabytes; split longer chains (slo_split.h).
[[nodiscard]] SearchResult esg_1q(const SortedStages& stages, const EsgQuery& query, SearchWorkspace& workspace);

}  // namespace sluice::plan
