#include "policy/runnable.h"

#include <algorithm>
#include <tuple>

namespace sluice::policy {
namespace {

const plan::Candidates& candidates_of(const Queue& queue) {
  return queue.model->stages[queue.model_stage].candidates;
}

Level level_of(const Configuration& c) {
  return c.slices > 0 ? Level::device : Level::host;
}

// Ready for configurations of this level, or being loaded for them.
bool is_loaded(const View& view, const Queue& queue, Level level, const Invoker& invoker) {
  const auto slots = view.instances_of(queue.shared);
  const bool there = std::any_of(slots.begin(), slots.end(), [&](std::uint32_t slot) {
    return view.instances[slot].invoker == invoker.id && view.instances[slot].wanted == level;
  });
  if (!there || level == Level::device) return there;
  return level_at(view, view.functions[queue.shared.index()], invoker) == level;
}

// The least of those that `runs`; nullptr: none does.
template <class Runs>
const Configuration* least_of(const Queue& queue, const Runs& runs) {
  const Configuration& least = plan::least(candidates_of(queue)).configuration;
  if (runs(least)) return &least;
  const Configuration* best = nullptr;
  const auto key = [](const Configuration& c) { return std::tuple(c.batch, c.slices, c.vcpu); };
  for (const plan::Candidate& candidate : candidates_of(queue)) {
    const Configuration& c = candidate.configuration;
    if (best != nullptr && key(c) >= key(*best)) continue;
    if (runs(c)) best = &c;
  }
  return best;
}

}  // namespace

bool runs_at(const View& view, const Queue& queue, const Configuration& c, const Invoker& invoker) {
  return invoker.holds(c) && view.ever_allowed(queue, c) &&
         (invoker.warm || is_loaded(view, queue, level_of(c), invoker));
}

bool runs_somewhere(const View& view, const Queue& queue, const Configuration& c) {
  return std::any_of(view.invokers.begin(), view.invokers.end(),
                     [&](const Invoker& invoker) { return runs_at(view, queue, c, invoker); });
}

const Configuration& least_runnable(const View& view, const Queue& queue) {
  const Configuration* best = least_of(queue, [&](const Configuration& c) { return runs_somewhere(view, queue, c); });
  return best == nullptr ? plan::least(candidates_of(queue)).configuration : *best;
}

const Configuration* least_runnable_at(const View& view, const Queue& queue, const Invoker& invoker) {
  return least_of(queue, [&](const Configuration& c) { return runs_at(view, queue, c, invoker); });
}

Level level_at(const View& view, const SharedFunction& function, const Invoker& invoker) {
  const auto runs_at = [&](Level level) {
    return std::any_of(function.queues.begin(), function.queues.end(), [&](QueueId id) {
      const Queue& queue = view.queue(id);
      const plan::Candidates& candidates = candidates_of(queue);
      return std::any_of(candidates.begin(), candidates.end(), [&](const plan::Candidate& c) {
        return level_of(c.configuration) == level && view.ever_allowed(queue, c.configuration) &&
               invoker.holds(c.configuration);
      });
    });
  };
  const bool on_gpus = std::any_of(invoker.gpus.begin(), invoker.gpus.end(),
                                   [&](const Gpu& gpu) { return gpu.memory >= function.memory; });
  if (on_gpus && runs_at(Level::device)) return Level::device;
  return invoker.memory >= function.memory && runs_at(Level::host) ? Level::host : Level::none;
}

std::uint32_t most_at_once(const View& view, const SharedFunction& function, const Invoker& invoker, Level level) {
  std::uint32_t most = 0;
  for (const QueueId queue : function.queues) {
    for (const plan::Candidate& candidate : candidates_of(view.queue(queue))) {
      const Configuration& c = candidate.configuration;
      if (level_of(c) != level || !invoker.holds(c)) continue;
      const std::uint32_t by_vcpus = c.vcpu > 0 ? invoker.vcpu / c.vcpu : TenantRoom::kNoLimit;
      most = std::max(most, c.slices > 0 ? std::min(by_vcpus, invoker.gpus.front().slices / c.slices) : by_vcpus);
    }
  }
  return most;
}

}  // namespace sluice::policy
