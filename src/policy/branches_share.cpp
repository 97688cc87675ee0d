#include "policy/branches_share.h"

#include <algorithm>

namespace sluice::policy {
namespace {

std::size_t branches_waiting(const View& view, const Queue& queue) {
  const RequestId request = queue.waiting.front().request;
  return static_cast<std::size_t>(
      std::count_if(view.busy_queues.begin(), view.busy_queues.end(), [&](std::uint32_t other) {
        const Queue& beside = view.queues[other];
        return beside.application == queue.application && beside.waiting.front().request == request;
      }));
}

}  // namespace

void leave_to_other_branches(const View& view, const Queue& queue, Dollars miss, std::vector<Scored>& scored) {
  const std::size_t branches = branches_waiting(view, queue);
  if (branches < 2) return;
  std::size_t vcpus = 0, slices = 0;
  for (const Invoker& invoker : view.invokers) {
    if (!invoker.usable) continue;
    vcpus += invoker.vcpu_free;
    slices += invoker.slices_free();
  }
  const auto too_much = [&](const Scored& way) {
    const Configuration& c = way.choice->configuration;
    return c.vcpu * branches > vcpus || c.slices * branches > slices;
  };
  const auto good = [&](const Scored& way) { return way.score < miss && !too_much(way); };
  if (std::any_of(scored.begin(), scored.end(), good)) std::erase_if(scored, too_much);
}

}  // namespace sluice::policy
