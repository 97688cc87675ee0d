#include "plan/rivals/esg_1q.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plan/rivals/dual_blade.h"

namespace sluice::plan {
namespace {

class Search {
 public:
  Search(const SortedStages& stages, const EsgQuery& query, SearchWorkspace& workspace)
      : stages_(stages), query_(query), workspace_(workspace), blades_{.ms_max = query.budget_ms} {}

  SearchResult run() {
    PrefixRange range = start_search(workspace_);
    for (std::size_t level = 0; level + 1 < stages_.size(); ++level) {
      extend(level, range);
      range = keep_promising(stages_, level, range.last, blades_.cost_max, workspace_.prefixes);
    }
    finish(range);
    return {.paths = collect_paths(stages_, workspace_), .expansions = expansions_};
  }

 private:
  // Appends every extension by a candidate of `level` that passes the blades. It can be finished by the fastest
  // candidates, so the K-th cheapest of these ways bounds the answer.
  void extend(std::size_t level, PrefixRange range) {
    const Dollars finish_fastest = stages_.cost_of_fastest_from(level + 1);
    workspace_.ranking.reset(query_.k, query_.distinct_first);
    expansions_ += expand(stages_, level, range, workspace_, blades_,
                          [&](std::uint32_t parent, std::uint32_t pick, Dollars cost, double ms) {
                            rank({.cost = cost + finish_fastest, .parent = parent, .pick = pick});
                            workspace_.prefixes.push_back({.cost = cost, .ms = ms, .parent = parent, .pick = pick});
                          });
  }

  // The last stage makes paths, of which only the best are kept.
  void finish(PrefixRange range) {
    workspace_.ranking.reset(query_.k, query_.distinct_first);
    expansions_ += expand(stages_, stages_.size() - 1, range, workspace_, blades_,
                          [&](std::uint32_t parent, std::uint32_t pick, Dollars cost, double ms) {
                            rank({.cost = cost, .ms = ms, .parent = parent, .pick = pick});
                          });
  }

  void rank(Ranking::Entry entry) {
    if (query_.distinct_first) entry.first = entry.parent == 0 ? entry.pick : first_pick(workspace_, entry.parent);
    workspace_.ranking.offer(entry);
    blades_.cost_max = std::min(blades_.cost_max, workspace_.ranking.kth_cost());
  }

  const SortedStages& stages_;
  const EsgQuery& query_;
  SearchWorkspace& workspace_;
  Blades blades_;
  std::uint64_t expansions_ = 0;
};

}  // namespace

SearchResult esg_1q(const SortedStages& stages, const EsgQuery& query, SearchWorkspace& workspace) {
  CHECK(query.k >= 1 && !std::isnan(query.budget_ms));
  if (!stages.complete()) return {};
  return Search(stages, query, workspace).run();
}

}  // namespace sluice::plan
