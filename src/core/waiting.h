// Invocations that wait: each is in a queue and in the ledger of its request, always in both.
#pragma once
#include <cstddef>

#include "core/state.h"

namespace sluice::core {

// The invocation that waits or runs.
[[nodiscard]] inline Place place_of(const policy::Waiting& waiting) {
  return {waiting.run, waiting.generation, waiting.stage, waiting.item, waiting.attempts};
}

// An invocation that is ready joins the end of a queue.
void put_waiting(State& state, policy::QueueId queue, const policy::Waiting& waiting, Request& request);
// The one at a position of the queue, which waits no more.
[[nodiscard]] policy::Waiting take_waiting(State& state, policy::QueueId queue, std::size_t at);
// Those of a request that nobody waits for any more leave their queues.
void drop_waiting(State& state, Slot slot);

}  // namespace sluice::core
