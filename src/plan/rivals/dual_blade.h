// Dual-blade pruning: the inner loop that ESG_1Q and the label search share (ESG, HPDC 2024). A prefix is extended only
// while the cheapest and the fastest way to finish it could still be part of an answer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include "plan/rivals/search_workspace.h"
#include "plan/rivals/sorted_stages.h"

namespace sluice::plan {

// Positions [first, last) in SearchWorkspace::prefixes: the prefixes of one length.
struct PrefixRange {
  std::uint32_t first = 0, last = 0;
};

// Starts a search: the workspace holds the empty path only.
[[nodiscard]] PrefixRange start_search(SearchWorkspace& workspace);

// After a level: of the prefixes from position `first` on (all end with stage `level`), those that still pass the cost
// blade, by (cost, ms, parent, pick).
[[nodiscard]] PrefixRange keep_promising(const SortedStages& stages, std::size_t level, std::uint32_t first,
                                         Dollars cost_max, std::vector<Prefix>& prefixes);

// Writes the ranked paths of a finished search to the workspace.
[[nodiscard]] std::span<const Path> collect_paths(const SortedStages& stages, SearchWorkspace& workspace);

// The first pick of a prefix. REQUIRES: it is not the empty path.
[[nodiscard]] std::uint32_t first_pick(const SearchWorkspace& workspace, std::uint32_t prefix);

struct Blades {
  double ms_max = 0;                                            // the budget
  Dollars cost_max = std::numeric_limits<Dollars>::infinity();  // falls while the search finds ways to finish
};

// Offers to `keep(prefix position, pick, cost, ms)` every extension of a prefix in `range` by a candidate of stage
// `level` that passes both blades, in the order of `range`, then of the stage. What is offered can be finished within
// the budget. `keep` may append to the workspace's prefixes and lower `blades.cost_max`. Returns the number of pairs
// looked at.
template <class Keep>
std::uint64_t expand(const SortedStages& stages, std::size_t level, PrefixRange range, SearchWorkspace& workspace,
                     const Blades& blades, Keep keep) {
  const SortedStages::Stage stage = stages.stage(level);
  const auto count = static_cast<std::uint32_t>(stage.cost.size());
  const Dollars cost_slack = stages.cost_slack() - stages.cheapest_from(level + 1);
  const double ms_max = blades.ms_max + stages.ms_slack() - stages.fastest_ms_from(level + 1);
  std::uint64_t expansions = 0;
  for (std::uint32_t p = range.first; p < range.last; ++p) {
    const Prefix prefix = workspace.prefixes[p];  // a copy: `keep` may move the array
    const double ms_room = ms_max - prefix.ms;
    Dollars cost_room = blades.cost_max - prefix.cost + cost_slack;
    std::uint32_t pick = 0;
    for (; pick < count; ++pick) {
      if (stage.cost[pick] > cost_room) {  // the cost blade: all later ones are dearer
        ++expansions;
        break;
      }
      if (stage.ms[pick] > ms_room) continue;  // the time blade: a dearer one may be faster
      const double ms = prefix.ms + stage.ms[pick];
      if (stages.fastest_finish_ms(level + 1, ms) > blades.ms_max) continue;  // the same without slack
      keep(p, pick, prefix.cost + stage.cost[pick], ms);
      cost_room = blades.cost_max - prefix.cost + cost_slack;
    }
    expansions += pick;
  }
  return expansions;
}

}  // namespace sluice::plan
