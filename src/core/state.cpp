#include "core/state.h"

#include <utility>

#include "base/check.h"

namespace sluice::core {

State::State(policy::Policies given, const Limits& most, const Transfer& moving)
    : policies(std::move(given)),
      limits(most),
      transfer(moving),
      applications(queues, tenants),
      loads(books, applications.functions()),
      runs(applications.controls(), most.attempts_max) {}

policy::View State::view() const {
  return {.now = now,
          .queues = queues.all(),
          .busy_queues = queues.busy(),
          .invokers = books.invokers(),
          .by_free = books.by_free(),
          .applications = applications.models(),
          .functions = applications.functions(),
          .instances = loads.all(),
          .tenants = tenants.left(),
          .by_function = loads.instances().by_function(),
          .by_invoker = loads.instances().by_invoker(),
          .demand = demands.all(),
          .announced = announced,
          .transfer = transfer};
}

std::optional<Time> State::later(std::optional<Time> wake_at) const {
  CHECK_MSG(!wake_at || *wake_at > now, "a policy wants to be asked again at the same instant");
  return wake_at;
}

void State::tell(Commands& out, Action action, const Work& work) {
  out.list.push_back({CommandId(next_command++), std::move(action), work});
}

}  // namespace sluice::core
