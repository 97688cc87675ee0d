#include "plan/rivals/dual_blade.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace sluice::plan {

PrefixRange start_search(SearchWorkspace& workspace) {
  workspace.prefixes.assign(1, Prefix{});
  return {.first = 0, .last = 1};
}

PrefixRange keep_promising(const SortedStages& stages, std::size_t level, std::uint32_t first, Dollars cost_max,
                           std::vector<Prefix>& prefixes) {
  CHECK(prefixes.size() <= std::numeric_limits<std::uint32_t>::max());  // a position is 32 bits; 100 GB come first
  const Dollars prefix_max = cost_max + stages.cost_slack() - stages.cheapest_from(level + 1);
  const auto begin = prefixes.begin() + first;
  prefixes.erase(std::remove_if(begin, prefixes.end(), [&](const Prefix& p) { return p.cost > prefix_max; }),
                 prefixes.end());
  std::sort(begin, prefixes.end(), [](const Prefix& a, const Prefix& b) {
    return std::tie(a.cost, a.ms, a.parent, a.pick) < std::tie(b.cost, b.ms, b.parent, b.pick);
  });
  return {.first = first, .last = static_cast<std::uint32_t>(prefixes.size())};
}

std::uint32_t first_pick(const SearchWorkspace& workspace, std::uint32_t prefix) {
  while (workspace.prefixes[prefix].parent != 0) prefix = workspace.prefixes[prefix].parent;
  return workspace.prefixes[prefix].pick;
}

std::span<const Path> collect_paths(const SortedStages& stages, SearchWorkspace& workspace) {
  const auto entries = workspace.ranking.entries();
  const std::size_t length = stages.size();
  workspace.path_candidates.resize(entries.size() * length);
  workspace.paths.clear();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::span<std::uint32_t> candidates(workspace.path_candidates.data() + i * length, length);
    std::uint32_t pick = entries[i].pick, parent = entries[i].parent;
    for (std::size_t level = length; level-- > 0;) {
      candidates[level] = stages.stage(level).candidate[pick];
      pick = workspace.prefixes[parent].pick;
      parent = workspace.prefixes[parent].parent;
    }
    workspace.paths.push_back({.ms = entries[i].ms, .cost = entries[i].cost, .candidates = candidates});
  }
  return workspace.paths;
}

}  // namespace sluice::plan
