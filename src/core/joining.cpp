#include "core/joining.h"

#include <set>

#include "core/endings.h"
#include "core/following.h"
#include "core/losses.h"

namespace sluice::core {
namespace {

// A batch of nobody: it is told to stop, and holds what it takes until it has.
void adopt(State& state, InvokerId invoker, const RunningBatch& theirs) {
  state.cancels.push_back({.invoker = invoker, .id = theirs.id});
  if (state.batches.find(theirs.id) != kNoSlot) return;  // the number is taken by another batch
  state.batches.pass_over(theirs.id);
  if (!state.books.take_running(invoker, theirs, state.now)) return;
  Batch& batch = state.batches[state.batches.add(theirs.id)];
  batch.application = ApplicationId::none();
  batch.function = policy::SharedFunctionId::none();
  batch.invoker = invoker;
  batch.instance = state.loads.enter_again(theirs.instance);
  batch.configuration = theirs.configuration;
  batch.positions = theirs.positions;
  batch.cancelled = true;
}

// Batches that still run stay booked, and the joiner will say how they end. Those it no longer knows have failed with
// it; those that only it knows are stopped, and booked until it says that they have.
void compare_batches(State& state, const InvokerJoined& event) {
  std::set<BatchId> running;
  for (const RunningBatch& theirs : event.running) {
    running.insert(theirs.id);
    const Slot slot = state.batches.find(theirs.id);
    if (slot == kNoSlot || !state.batches[slot].is(event.id, theirs)) {
      adopt(state, event.id, theirs);
      continue;
    }
    Batch& batch = state.batches[slot];
    batch.instance = state.loads.enter_again(theirs.instance);
    for (const policy::Waiting& member : batch.members) {
      if (const auto request = state.requests.find(member.request)) state.runs.hold(*request, event.id);
    }
    if (batch.cancelled)
      state.cancels.push_back({.invoker = event.id, .id = batch.id});  // may have been lost on its way
  }
  for (const BatchId id : state.batches.at(event.id)) {
    const Slot slot = state.batches.find(id);
    if (slot == kNoSlot || running.contains(id)) continue;
    state.batches[slot].instance = InstanceId::none();  // counted anew above
    fail_batch(state, id, "InvokerLost");
  }
}

// What requests left there and is not there any more is lost; what is there of requests that are over may go.
void compare_objects(State& state, const InvokerJoined& event) {
  const std::set<RequestId> held(event.objects.begin(), event.objects.end());
  state.runs.lose(event.id, held, state.now);
  follow(state);
  for (const RequestId request : held) hold(state, request, event.id);
}

}  // namespace

void join(State& state, const InvokerJoined& event) {
  const Life life{event.epoch, event.session};
  if (state.books.knows(event.id) && state.books.life(event.id) && !(*state.books.life(event.id) < life))
    return;  // delivered twice
  const bool same_life = state.books.alive(event.id) && state.books.life(event.id)->epoch == event.epoch;
  if (same_life && state.books.has_shape_of(event.id, event.capacity, event.warm)) {
    state.books.rejoin(event.id, life, event.capacity);
    state.loads.forget(event.id);
  } else {
    if (state.books.alive(event.id)) lose_invoker(state, event.id);
    follow(state);
    state.books.join(event.id, life, event.capacity, event.warm);
  }
  for (const InstanceStatus& status : event.instances) {
    const auto function = state.applications.shared(status.application, status.function);
    if (function) state.loads.add(event.id, status, *function, state.now);
  }
  compare_objects(state, event);
  compare_batches(state, event);
  state.changed = true;
}

}  // namespace sluice::core
