#include "core/intake.h"

#include <algorithm>

#include "core/following.h"

namespace sluice::core {
namespace {

void reject(State& state, const Reject& refused, Commands& out) {
  ++state.counters.rejected;
  state.tell(out, refused);
}

void let_in(State& state, const RequestArrived& arrival, const policy::Admitted& admitted, Commands& out) {
  ++state.counters.accepted;
  const Slot slot = state.requests.add(arrival, state.now);
  state.applications.use(arrival.application);
  state.requests.promise(slot, admitted.reserved, state.books);
  state.tell(out, Accept{.request = arrival.id,
                         .promised_finish = admitted.promised.value_or(arrival.deadline),
                         .cost = admitted.cost});
  if (state.books.cold_invokers() > 0) {
    for (const policy::QueueId id : state.applications.controls()[arrival.application.index()].queues) {
      const policy::Queue& queue = state.queues[id];
      if (queue.handler == nullptr) state.demands.expect(state.requests[slot], queue.shared);
    }
  }
  state.runs.begin(slot, arrival, state.now);
  follow(state);
}

// What the policy says of a request that there is room for.
void ask_policy(State& state, const RequestArrived& arrival, Commands& out) {
  policy::Admitted admitted = state.policies.admission->admit(state.view(), arrival);
  // Each load makes one wish less; where one cannot be fulfilled the request is refused.
  std::vector<Action> actions;
  while (admitted.load && state.loads.load(state.view(), *admitted.load, actions)) {
    for (Action& action : actions) state.tell(out, std::move(action));
    actions.clear();
    admitted = state.policies.admission->admit(state.view(), arrival);
  }
  if (admitted.load) admitted = {.accept = false, .reason = RejectReason::no_capacity};
  if (admitted.accept)
    let_in(state, arrival, admitted, out);
  else
    reject(state, {arrival.id, admitted.reason, admitted.needed, admitted.available, admitted.retry_after}, out);
}

}  // namespace

void announce(State& state, const RequestAnnounced& event) {
  if (!state.applications.takes_requests(event.application)) return;
  if (event.count == 0 || state.announced.size() >= state.limits.announced_max) return;
  state.announced.push_back(event);
  state.changed = true;
}

void arrive(State& state, const RequestArrived& event) {
  if (state.requests.find(event.id) || !state.arrivals.add(event)) return;  // twice
  if (state.policies.learns) state.applications.learn(event.application, event.verdicts, event.fan_outs);
  const auto known = std::find_if(state.announced.begin(), state.announced.end(),
                                  [&](const RequestAnnounced& a) { return a.application == event.application; });
  if (known != state.announced.end() && --known->count == 0) state.announced.erase(known);
}

void cancel(State& state, const RequestCancelled& event) {
  if (state.arrivals.cancel(event.id)) {
    ++state.counters.accepted;
    ++state.counters.cancelled;
    state.answers.push_back(Reply{.request = event.id, .outcome = RequestOutcome::cancelled});
    return;
  }
  if (const auto slot = state.requests.find(event.id)) state.runs.cancel(*slot, state.now);
}

void admit(State& state, Commands& out) {
  std::erase_if(state.announced, [&](const RequestAnnounced& a) { return a.expected < state.now; });
  state.arrivals.take([&](const RequestArrived& arrival) {
    if (!state.applications.takes_requests(arrival.application)) {
      reject(state, {.request = arrival.id, .reason = RejectReason::not_deployed}, out);
    } else if (state.requests.size() >= state.limits.requests_max) {
      reject(state,
             {.request = arrival.id,
              .reason = RejectReason::queue_full,
              .needed = static_cast<double>(state.requests.size() + 1),
              .available = static_cast<double>(state.limits.requests_max)},
             out);
    } else {
      ask_policy(state, arrival, out);
    }
  });
}

}  // namespace sluice::core
