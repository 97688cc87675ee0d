#include "plan/rivals/label_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/check.h"
#include "plan/rivals/dual_blade.h"

namespace sluice::plan {
namespace {

// Drops from a range sorted by cost what an earlier prefix matches in ms. Adding the same candidates to two prefixes
// keeps their order even after rounding, so nothing better is lost. REQUIRES: the range ends the array.
PrefixRange keep_undominated(PrefixRange range, std::vector<Prefix>& prefixes) {
  double fastest = std::numeric_limits<double>::infinity();
  auto kept = prefixes.begin() + range.first;
  for (const Prefix& p : std::span(prefixes).subspan(range.first)) {
    if (p.ms >= fastest) continue;
    fastest = p.ms;
    *kept++ = p;
  }
  prefixes.erase(kept, prefixes.end());
  return {.first = range.first, .last = static_cast<std::uint32_t>(prefixes.size())};
}

}  // namespace

SearchResult label_search(const SortedStages& stages, double budget_ms, SearchWorkspace& workspace) {
  CHECK(!std::isnan(budget_ms));
  if (!stages.complete()) return {};
  Blades blades{.ms_max = budget_ms};
  std::uint64_t expansions = 0;
  PrefixRange range = start_search(workspace);
  for (std::size_t level = 0; level + 1 < stages.size(); ++level) {
    const Dollars finish_fastest = stages.cost_of_fastest_from(level + 1);
    expansions += expand(stages, level, range, workspace, blades,
                         [&](std::uint32_t parent, std::uint32_t pick, Dollars cost, double ms) {
                           blades.cost_max = std::min(blades.cost_max, cost + finish_fastest);
                           workspace.prefixes.push_back({.cost = cost, .ms = ms, .parent = parent, .pick = pick});
                         });
    range = keep_promising(stages, level, range.last, blades.cost_max, workspace.prefixes);
    range = keep_undominated(range, workspace.prefixes);
  }
  workspace.ranking.reset(1, false);
  expansions += expand(stages, stages.size() - 1, range, workspace, blades,
                       [&](std::uint32_t parent, std::uint32_t pick, Dollars cost, double ms) {
                         workspace.ranking.offer({.cost = cost, .ms = ms, .parent = parent, .pick = pick});
                         blades.cost_max = std::min(blades.cost_max, workspace.ranking.kth_cost());
                       });
  return {.paths = collect_paths(stages, workspace), .expansions = expansions};
}

}  // namespace sluice::plan
