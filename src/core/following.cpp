#include "core/following.h"

#include <algorithm>
#include <utility>

#include "core/waiting.h"

namespace sluice::core {
namespace {

void follow(State& state, const Runs::Ready& ready) {
  if (!state.runs.expects(ready.place)) return;  // over since
  const ControlStage& control = state.runs.control_of(ready.place);
  if (state.queues.waiting(control.queue) >= state.limits.queue_max)
    return state.runs.end(ready.place, RequestOutcome::failed, "QueueFull", state.now);
  Request& request = state.requests[ready.request];
  policy::Waiting waiting{.invocation = InvocationId(state.next_invocation++),
                          .request = request.id,
                          .run = ready.place.run,
                          .generation = ready.place.generation,
                          .stage = ready.place.stage,
                          .item = ready.place.item,
                          .attempts = ready.place.attempts,
                          .ready = state.now,
                          .arrival = request.arrival,
                          .deadline = request.deadline,
                          .inputs_at = ready.inputs_at,
                          .bytes = ready.bytes,
                          .to_spend = request.cost_limit};
  if (waiting.to_spend) *waiting.to_spend = *waiting.to_spend - request.cost;
  if (state.runs.in_outermost_run(ready.place)) {
    for (const Promise& p : request.promises) {
      if (p.stage != ready.place.stage) continue;
      waiting.reservation = p.reservation;
      waiting.reserved_at = p.invoker;
      waiting.promised = p.from;
      waiting.latest = p.latest;
    }
  }
  put_waiting(state, control.queue, waiting, request);
  if (state.books.cold_invokers() > 0) state.demands.reached(request, state.queues[control.queue].shared, state.now);
  ++state.counters.invocations;
  state.changed = true;
  state.policies.dispatch->queued(state.view(), state.queues[control.queue]);
  state.policies.prewarm->queued(state.view(), state.queues[control.queue]);
}

// What is given back may be what others wait for.
void give_promises_back(State& state, Slot request) {
  if (state.requests[request].promises.empty()) return;
  state.requests.end_promises(request, state.books);
  state.changed = true;
}

void follow(State& state, const Runs::Skipped& skipped) {
  if (state.requests[skipped.request].promises.empty()) return;
  state.requests.end_promise(skipped.request, skipped.stage, state.books);
  state.changed = true;
}

void follow(State& state, const Runs::Withdrawn& withdrawn) {
  drop_waiting(state, withdrawn.request);
}

void follow(State& state, const Runs::BeganAgain& again) {
  drop_waiting(state, again.request);
  give_promises_back(state, again.request);
}

// Stops what runs for nobody else. Its books stay until the invoker says that it has stopped.
void cancel_batches_of(State& state, const Request& request) {
  request.running.for_each([&](std::uint64_t, Slot slot) {
    Batch& batch = state.batches[slot];
    const auto expected = [&](const policy::Waiting& m) { return state.runs.expects(place_of(m)); };
    if (batch.cancelled || std::any_of(batch.members.begin(), batch.members.end(), expected)) return;
    batch.cancelled = true;
    state.cancels.push_back({.invoker = batch.invoker, .id = batch.id});
  });
}

void follow(State& state, Runs::Ended& ended) {
  const Request& request = state.requests[ended.request];
  state.counters.finished += ended.outcome == RequestOutcome::finished ? 1 : 0;
  state.counters.cancelled += ended.outcome == RequestOutcome::cancelled ? 1 : 0;
  state.counters.failed +=
      ended.outcome == RequestOutcome::failed || ended.outcome == RequestOutcome::deadline_exceeded ? 1 : 0;
  for (const InvokerId invoker : ended.left_at) state.releases.push_back({invoker, request.id});
  state.answers.push_back({.request = request.id,
                           .outcome = ended.outcome,
                           .stage = ended.stage,
                           .error = std::move(ended.error),
                           .cost = request.cost,
                           .outermost = ended.outermost});
  if (ended.outcome == RequestOutcome::finished) state.answers.back().places = std::move(ended.left_at);
  give_promises_back(state, ended.request);
  drop_waiting(state, ended.request);
  if (ended.outcome == RequestOutcome::cancelled || ended.outcome == RequestOutcome::deadline_exceeded)
    cancel_batches_of(state, request);
  state.demands.ended(state.requests[ended.request]);
  state.policies.dispatch->ended(state.view(), request.id);
  state.applications.leave(request.application);
  state.requests.remove(ended.request);
}

}  // namespace

// Handling one effect may cause more.
void follow(State& state) {
  auto& effects = state.runs.effects();
  for (std::size_t i = 0; i < effects.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows meanwhile
    Runs::Effect effect = std::move(effects[i]);
    std::visit([&](auto& e) { follow(state, e); }, effect);
  }
  effects.clear();
  state.queues.settle();
}

}  // namespace sluice::core
