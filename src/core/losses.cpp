#include "core/losses.h"

#include "core/endings.h"
#include "core/following.h"
#include "core/waiting.h"

namespace sluice::core {

void lose_invoker(State& state, InvokerId invoker) {
  state.requests.forget_promises(invoker);
  state.queues.forget_promises(invoker);
  state.books.lose(invoker);
  state.loads.lose(invoker);
  state.runs.lose(invoker, {}, state.now);
  follow(state);
  for (const BatchId id : state.batches.at(invoker)) {
    fail_batch(state, id, "InvokerLost");
  }
}

void lose_object(State& state, const ObjectLost& event) {
  const auto slot = state.requests.find(event.request);
  if (!slot) return;
  state.runs.lose(*slot, event.invoker, state.now);
  // What still runs there will leave something.
  state.requests[*slot].running.for_each([&](std::uint64_t, Slot batch) {
    if (state.batches[batch].invoker == event.invoker) state.runs.hold(*slot, event.invoker);
  });
}

void fail_load(State& state, const LoadFailed& event) {
  const auto function = state.loads.failed(event, state.now);
  if (!function) return;
  state.changed = true;
  const auto since = state.loads.failing_since(*function, state.limits.attempts_max);
  if (!since) return;
  for (const policy::QueueId queue : state.applications.functions()[function->index()].queues) {
    // By readiness: what is tried again or comes later is behind.
    while (!state.queues[queue].waiting.empty() && state.queues[queue].waiting[0].ready <= *since) {
      const policy::Waiting waiting = take_waiting(state, queue, 0);
      state.runs.fail_stage(place_of(waiting), event.error.empty() ? "LoadFailed" : event.error, state.now);
      follow(state);
    }
  }
}

}  // namespace sluice::core
