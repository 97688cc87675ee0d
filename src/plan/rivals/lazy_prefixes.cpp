#include "plan/rivals/lazy_prefixes.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace sluice::plan {

void LazyPrefixes::start(SearchWorkspace& workspace) {
  workspace_ = &workspace;
  range_ = start_search(workspace);
  size_ = 1;
}

void LazyPrefixes::extend(const SortedStages::Stage& stage, const FitIndex& index, std::vector<Extensions>& extensions,
                          Dollars cost_max) {
  stage_ = stage;
  index_ = &index;
  extensions_.swap(extensions);
  parents_ = {.first = range_.first, .last = range_.first + static_cast<std::uint32_t>(extensions_.size())};
  range_.first = range_.last;
  cost_max_ = cost_max;
  step_ = 0;
  size_ = count();
}

std::uint64_t LazyPrefixes::count() const {
  std::uint64_t out = 0;
  for (std::uint32_t p = parents_.first; p < parents_.last; ++p) {
    const Extensions& e = extensions_[p - parents_.first];
    out += index_->count(e.fastest, std::min(e.cheapest, cheapest_within(workspace_->prefixes[p], cost_max_)));
  }
  return out;
}

std::uint32_t LazyPrefixes::cheapest_within(const Prefix& prefix, Dollars cost) const {
  const auto end = std::partition_point(stage_.cost.begin(), stage_.cost.end(),
                                        [&](Dollars own) { return prefix.cost + own <= cost; });
  return static_cast<std::uint32_t>(end - stage_.cost.begin());
}

Dollars LazyPrefixes::next_cost() {
  if (++step_ == kSteps || std::isinf(cost_max_)) return cost_max_;
  const Dollars least = workspace_->prefixes[parents_.first].cost + stage_.cost.front();
  const double part = std::exp2(static_cast<double>(step_ - kSteps) / kStepsPerDoubling);
  return std::min(cost_max_, least + part * (cost_max_ - least));
}

bool LazyPrefixes::make_more() {
  const std::uint32_t before = range_.last;
  while (range_.last == before && range_.last - range_.first < size_) make_up_to(next_cost());
  return range_.last > before;
}

void LazyPrefixes::make_up_to(Dollars cost) {
  batch_.clear();
  for (std::uint32_t p = parents_.first; p < parents_.last; ++p) {
    const Prefix prefix = workspace_->prefixes[p];
    if (prefix.cost + stage_.cost.front() > cost) break;  // parents are by cost
    Extensions& e = extensions_[p - parents_.first];
    const std::uint32_t end = std::min(e.cheapest, cheapest_within(prefix, cost));
    index_->walk(e.fastest, e.made, end, [&](std::size_t pick) {
      batch_.push_back({.cost = prefix.cost + stage_.cost[pick],
                        .ms = prefix.ms + stage_.ms[pick],
                        .parent = p,
                        .pick = static_cast<std::uint32_t>(pick)});
      return true;
    });
    e.made = std::max(e.made, end);
  }
  sort_(batch_, [](const Prefix& a, const Prefix& b) {
    return std::tie(a.cost, a.ms, a.parent, a.pick) < std::tie(b.cost, b.ms, b.parent, b.pick);
  });
  std::vector<Prefix>& all = workspace_->prefixes;
  CHECK(all.size() + batch_.size() <= std::numeric_limits<std::uint32_t>::max());  // a position is 32 bits
  all.insert(all.end(), batch_.begin(), batch_.end());
  range_.last = static_cast<std::uint32_t>(all.size());
}

}  // namespace sluice::plan
