#include "core/waiting.h"

#include <algorithm>
#include <utility>
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
  std::vector<std::pair<policy::QueueId, InvocationId>> gone;
  request.waiting.for_each([&](std::uint64_t number, policy::QueueId queue) {
    const InvocationId invocation(number);
    if (!state.runs.expects(place_of(state.queues.find(queue, invocation)))) gone.emplace_back(queue, invocation);
  });
  std::sort(gone.begin(), gone.end());
  std::vector<InvocationId> of_queue;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    of_queue.push_back(gone[i].second);
    request.waiting.remove(gone[i].second.value());
    if (i + 1 < gone.size() && gone[i + 1].first == gone[i].first) continue;
    state.queues.erase(gone[i].first, of_queue);
    of_queue.clear();
  }
}

}  // namespace sluice::core
