#include "policy/affordable.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "policy/runnable.h"

namespace sluice::policy {

void keep_affordable(const View& view, const Queue& queue, const SluiceModel& model, std::vector<Scored>& scored) {
  const std::size_t most = scored.empty() ? 0 : scored.back().choice->configuration.batch;
  std::size_t limited = 0;
  while (limited < most && !queue.waiting[limited].to_spend) ++limited;
  if (limited == most) return;
  const auto runs = [&](const Scored& way) { return runs_somewhere(view, queue, way.choice->configuration); };
  if (std::any_of(scored.begin(), scored.end(), runs)) std::erase_if(scored, std::not_fn(runs));
  const auto cost = [&](const Scored& way) { return model.cost_of(queue.model_stage, *way.choice); };
  const auto too_dear = [&](const Scored& way) {
    for (std::size_t i = limited; i < way.choice->configuration.batch; ++i) {
      const auto& to_spend = queue.waiting[i].to_spend;
      if (to_spend && cost(way) > to_spend->to_dollars() - model.to_come(queue.model_stage)) return true;
    }
    return false;
  };
  Dollars least = std::numeric_limits<Dollars>::infinity();
  for (const Scored& way : scored) least = std::min(least, cost(way));
  const bool none = std::all_of(scored.begin(), scored.end(), too_dear);
  std::erase_if(scored, [&](const Scored& way) { return none ? cost(way) > least : too_dear(way); });
}

}  // namespace sluice::policy
