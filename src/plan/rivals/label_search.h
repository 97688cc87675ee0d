// Label search: the cheapest path of a chain within a budget. ESG_1Q's blades on Pareto-filtered stages, and of two
// prefixes of one length the one that is both slower and dearer is dropped, which keeps few where ESG_1Q keeps
// thousands. Exact for the single best. The scheduler part `label`, and a check on frontier and ESG_1Q.
#pragma once
#include "plan/rivals/search_workspace.h"
#include "plan/rivals/sorted_stages.h"

namespace sluice::plan {

// At most one path: the cheapest, of equally cheap ones the fastest. REQUIRES: budget_ms is not NaN.
// Works on any stages; Keep::pareto is faster by an order of magnitude and finds a path of the same ms and cost.
[[nodiscard]] SearchResult label_search(const SortedStages& stages, double budget_ms, SearchWorkspace& workspace);

}  // namespace sluice::plan
