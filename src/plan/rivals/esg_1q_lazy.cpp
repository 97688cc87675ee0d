#include "plan/rivals/esg_1q_lazy.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace sluice::plan {
namespace {

// Comparisons and sums are those of expand() and keep_promising() (dual_blade.h), term by term: another order of adding
// would round otherwise and count otherwise.
class Search {
 public:
  Search(const IndexedStages& stages, const EsgQuery& query, LazyWorkspace& workspace)
      : stages_(stages.sorted()),
        indexed_(stages),
        query_(query),
        workspace_(workspace),
        blades_{.ms_max = query.budget_ms} {}

  SearchResult run() {
    workspace_.prefixes.start(workspace_.search);
    for (level_ = 0; level_ < stages_.size(); ++level_) {
      look_at_level();
      if (level_ + 1 == stages_.size()) break;
      workspace_.prefixes.extend(stage_, indexed_.index(level_), workspace_.extensions,
                                 blades_.cost_max + stages_.cost_slack() - stages_.cheapest_from(level_ + 1));
    }
    return {.paths = collect_paths(stages_, workspace_.search), .expansions = expansions_};
  }

 private:
  void look_at_level() {
    stage_ = stages_.stage(level_);
    cost_slack_ = stages_.cost_slack() - stages_.cheapest_from(level_ + 1);
    ms_max_ = blades_.ms_max + stages_.ms_slack() - stages_.fastest_ms_from(level_ + 1);
    workspace_.extensions.clear();
    workspace_.search.ranking.reset(query_.k, query_.distinct_first);
    const std::uint32_t first = workspace_.prefixes.first();
    for (std::uint32_t p = first;; ++p) {
      if (p == workspace_.search.prefixes.size() && !workspace_.prefixes.make_more()) break;
      const Prefix prefix = workspace_.search.prefixes[p];
      if (stage_.cost.front() > cost_room(prefix)) {
        // Nor can the later ones be extended, which are no cheaper: ESG_1Q looks at one pair for each.
        expansions_ += workspace_.prefixes.size() - (p - first);
        break;
      }
      workspace_.extensions.push_back(look_at(p, prefix));
    }
  }

  // Offers the extensions of one prefix that may lower the bound, and says which pass the blades.
  Extensions look_at(std::uint32_t p, const Prefix& prefix) {
    const FitIndex& index = indexed_.index(level_);
    const std::size_t fastest = fastest_that_fit(prefix);
    const Dollars finish_fastest = stages_.cost_of_fastest_from(level_ + 1);
    const bool last = level_ + 1 == stages_.size();
    std::size_t looked = cheapest_that_fit(prefix);
    Dollars first_cost = std::numeric_limits<Dollars>::infinity();
    index.walk(fastest, 0, looked, [&](std::size_t pick) {
      const Dollars cost = prefix.cost + stage_.cost[pick];
      if (pick >= looked || cost + finish_fastest > workspace_.search.ranking.kth_cost()) return false;
      // With different first configurations wanted, the cheapest extension stands for all of this prefix.
      if (query_.distinct_first && level_ > 0 && cost > first_cost) return false;
      first_cost = std::min(first_cost, cost);
      rank({.cost = cost + finish_fastest,
            .ms = last ? prefix.ms + stage_.ms[pick] : 0,
            .parent = p,
            .pick = static_cast<std::uint32_t>(pick)});
      looked = std::max(pick + 1, cheapest_that_fit(prefix));
      return true;
    });
    expansions_ += looked + (looked < stage_.cost.size() ? 1 : 0);
    return {.fastest = static_cast<std::uint32_t>(fastest), .cheapest = static_cast<std::uint32_t>(looked)};
  }

  [[nodiscard]] Dollars cost_room(const Prefix& prefix) const { return blades_.cost_max - prefix.cost + cost_slack_; }

  [[nodiscard]] std::size_t cheapest_that_fit(const Prefix& prefix) const {
    const auto end = std::upper_bound(stage_.cost.begin(), stage_.cost.end(), cost_room(prefix));
    return static_cast<std::size_t>(end - stage_.cost.begin());
  }

  [[nodiscard]] std::size_t fastest_that_fit(const Prefix& prefix) const {
    const FitIndex& index = indexed_.index(level_);
    std::size_t out = index.within(ms_max_ - prefix.ms);
    while (out > 0 && stages_.fastest_finish_ms(level_ + 1, prefix.ms + index.slowest_of(out)) > blades_.ms_max) --out;
    return out;
  }

  void rank(Ranking::Entry entry) {
    if (query_.distinct_first)
      entry.first = entry.parent == 0 ? entry.pick : first_pick(workspace_.search, entry.parent);
    workspace_.search.ranking.offer(entry);
    blades_.cost_max = std::min(blades_.cost_max, workspace_.search.ranking.kth_cost());
  }

  const SortedStages& stages_;
  const IndexedStages& indexed_;
  const EsgQuery& query_;
  LazyWorkspace& workspace_;
  Blades blades_;
  std::uint64_t expansions_ = 0;
  // Of the level that is looked at:
  std::size_t level_ = 0;
  SortedStages::Stage stage_;
  Dollars cost_slack_ = 0;
  double ms_max_ = 0;
};

}  // namespace

IndexedStages::IndexedStages(std::span<const Candidates> stages, BatchCap batch_cap)
    : sorted_(stages, batch_cap, SortedStages::Keep::all) {
  for (std::size_t i = 0; i < sorted_.size(); ++i) index_.emplace_back(sorted_.stage(i));
}

SearchResult esg_1q_lazy(const IndexedStages& stages, const EsgQuery& query, LazyWorkspace& workspace) {
  CHECK(query.k >= 1 && !std::isnan(query.budget_ms));
  if (!stages.sorted().complete()) return {};
  return Search(stages, query, workspace).run();
}

}  // namespace sluice::plan
