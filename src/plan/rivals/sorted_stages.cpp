#include "plan/rivals/sorted_stages.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace sluice::plan {
namespace {

// Rounding shifts a sum of n terms by at most n · 1.1e-16 of it; a chain of 1,000 stages stays below.
constexpr double kRelativeSlack = 1e-12;

std::vector<std::uint32_t> positions_by_cost(const Candidates& candidates, BatchCap batch_cap) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].configuration.batch <= batch_cap) positions.push_back(i);
  }
  const auto rank = [&](std::uint32_t i) {
    const Candidate& c = candidates[i];
    return std::tuple(c.cost, c.ms, c.configuration, i);
  };
  std::sort(positions.begin(), positions.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
  return positions;
}

}  // namespace

SortedStages::SortedStages(std::span<const Candidates> stages, BatchCap batch_cap, Keep keep) {
  for (const Candidates& candidates : stages) add_stage(candidates, batch_cap, keep);
  complete_ = size() > 0;
  for (std::size_t i = 0; i < size(); ++i) complete_ = complete_ && start_[i] < start_[i + 1];
  if (complete_) sum_up();
}

SortedStages::Stage SortedStages::stage(std::size_t i) const {
  const std::size_t first = start_[i], count = start_[i + 1] - first;
  return {.cost = {cost_.data() + first, count},
          .ms = {ms_.data() + first, count},
          .candidate = {candidate_.data() + first, count}};
}

void SortedStages::add_stage(const Candidates& candidates, BatchCap batch_cap, Keep keep) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const std::uint32_t i : positions_by_cost(candidates, batch_cap)) {
    const Candidate& c = candidates[i];
    if (keep == Keep::pareto && c.ms >= fastest) continue;  // a cheaper one is as fast
    fastest = std::min(fastest, c.ms);
    cost_.push_back(c.cost);
    ms_.push_back(c.ms);
    candidate_.push_back(i);
  }
  start_.push_back(cost_.size());
}

void SortedStages::sum_up() {
  fastest_.assign(size(), 0);
  fastest_ms_.assign(size() + 1, 0);
  cheapest_.assign(size() + 1, 0);
  cost_of_fastest_.assign(size() + 1, 0);
  double slowest_ms = 0;
  Dollars dearest = 0;
  for (std::size_t i = size(); i-- > 0;) {
    const Stage s = stage(i);
    const auto [fastest, slowest] =
        std::minmax_element(s.ms.begin(), s.ms.end());  // the first of the fastest: cheapest
    fastest_[i] = *fastest;
    fastest_ms_[i] = fastest_ms_[i + 1] + *fastest;
    cost_of_fastest_[i] = cost_of_fastest_[i + 1] + s.cost[static_cast<std::size_t>(fastest - s.ms.begin())];
    cheapest_[i] = cheapest_[i + 1] + s.cost.front();
    slowest_ms += *slowest;
    dearest += s.cost.back();
  }
  ms_slack_ = kRelativeSlack * slowest_ms;
  cost_slack_ = kRelativeSlack * dearest;
}

}  // namespace sluice::plan
