#include "core/dispatching.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/check.h"
#include "core/booking.h"
#include "core/following.h"
#include "core/waiting.h"

namespace sluice::core {
namespace {

// What a policy gives up: nothing of it runs any more, and its caller hears so at once.
void drop(State& state, const policy::Proposals& proposals) {
  if (proposals.drop == 0) return;
  CHECK(proposals.ranked.empty());
  const auto& waiting = state.queues[proposals.queue].waiting;
  CHECK(proposals.drop_first + proposals.drop <= waiting.size());
  std::vector<policy::Waiting> dropped;
  for (std::uint32_t i = 0; i < proposals.drop; ++i) dropped.push_back(waiting[proposals.drop_first + i]);
  for (const policy::Waiting& d : dropped) {
    state.runs.end(place_of(d), RequestOutcome::deadline_exceeded, "DeadlineExceeded", state.now);
    follow(state);
  }
}

void ask_policy(State& state, Commands& out) {
  state.policies.dispatch->begin(state.view());
  for (std::size_t i = 0; i < state.limits.decisions_max; ++i) {
    if (!state.policies.dispatch->next(state.view(), state.proposals)) return;
    ++state.counters.decisions;
    drop(state, state.proposals);
    std::optional<std::size_t> booked;
    for (std::size_t p = 0; p < state.proposals.ranked.size() && !booked; ++p) {
      const Booked done = book(state, state.proposals, state.proposals.ranked[p], out);
      if (done == Booked::load) break;
      if (done == Booked::batch) booked = p;
    }
    state.policies.dispatch->decided(state.view(), state.proposals, booked);
  }
}

}  // namespace

void dispatch(State& state, Commands& out) {
  state.wake.reset();
  if (state.queues.busy().empty()) return;
  state.books.let_end(state.now);
  ask_policy(state, out);
  if (state.queues.busy().empty()) return;
  state.wake = state.later(state.policies.dispatch->next_wake(state.view()));
  // A batch that was started just now may be so short that it counts as ending already: time has to pass all the same.
  if (const auto end = state.books.next_to_end(); end && (!state.wake || *end < *state.wake))
    state.wake = std::max(*end, state.now + Duration::ns(1));
}

}  // namespace sluice::core
