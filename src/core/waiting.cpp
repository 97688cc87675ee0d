#include "core/waiting.h"

#include <vector>

namespace sluice::core {

void put_waiting(State& state, policy::QueueId queue, const policy::Waiting& waiting, Request& request) {
  state.queues.push(queue, waiting);
  request.waiting.add(waiting.invocation.value(), queue);
}

policy::Waiting take_waiting(State& state, policy::QueueId queue, std::size_t at) {
  const policy::Waiting waiting = state.queues.take(queue, at);
  state.requests[*state.requests.find(waiting.request)].waiting.remove(waiting.invocation.value());
  return waiting;
}

void drop_waiting(State& state, Slot slot) {
  Request& request = state.requests[slot];
  std::vector<InvocationId> gone;
  request.waiting.for_each([&](std::uint64_t number, policy::QueueId queue) {
    const InvocationId invocation(number);
    if (state.runs.expects(place_of(state.queues.find(queue, invocation)))) return;
    state.queues.leave(queue, invocation);
    gone.push_back(invocation);
  });
  for (const InvocationId invocation : gone) request.waiting.remove(invocation.value());
  if (!gone.empty()) state.changed = true;  // others were behind them, or could not have what was kept for them
}

}  // namespace sluice::core
