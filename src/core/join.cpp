// A machine joins, for the first time or after a gap in its link: what it says it runs, has loaded and holds against
// what the books say.
#include <algorithm>
#include <set>

#include "core/scheduler.h"

namespace sluice::core {

void Scheduler::on(const InvokerJoined& event) {
  const Life life{event.epoch, event.session};
  if (books_.knows(event.id) && books_.life(event.id) && !(*books_.life(event.id) < life)) return;  // delivered twice
  const bool same_life = books_.alive(event.id) && books_.life(event.id)->epoch == event.epoch;
  if (same_life && books_.has_shape_of(event.id, event.capacity, event.warm)) {
    books_.rejoin(event.id, life, event.capacity);
    loads_.forget(event.id);
  } else {
    if (books_.alive(event.id)) lose(event.id);
    follow();
    books_.join(event.id, life, event.capacity, event.warm);
  }
  for (const InstanceStatus& status : event.instances) {
    const auto function = applications_.shared(status.application, status.function);
    if (function) loads_.add(event.id, status, *function, now_);
  }
  compare_objects(event);
  compare_batches(event);
  changed_ = true;
}

// Batches that still run stay booked, and the joiner will say how they end. Those it no longer knows have failed with
// it; those that only it knows are stopped, and booked until it says that they have.
void Scheduler::compare_batches(const InvokerJoined& event) {
  std::set<BatchId> running;
  for (const RunningBatch& theirs : event.running) {
    running.insert(theirs.id);
    const Slot slot = batches_.find(theirs.id);
    if (slot == kNoSlot || !batches_[slot].is(event.id, theirs)) {
      adopt(event.id, theirs);
      continue;
    }
    Batch& batch = batches_[slot];
    batch.instance = loads_.enter_again(theirs.instance);
    for (const policy::Waiting& member : batch.members) {
      if (const auto request = requests_.find(member.request)) runs_.hold(*request, event.id);
    }
    if (batch.cancelled) cancels_.push_back({.invoker = event.id, .id = batch.id});  // may have been lost on its way
  }
  for (const BatchId id : batches_.at(event.id)) {
    const Slot slot = batches_.find(id);
    if (slot == kNoSlot || running.contains(id)) continue;
    batches_[slot].instance = InstanceId::none();  // counted anew above
    fail_members(slot, "InvokerLost");
  }
}

// A batch of nobody: it is told to stop, and holds what it takes until it has.
void Scheduler::adopt(InvokerId invoker, const RunningBatch& theirs) {
  cancels_.push_back({.invoker = invoker, .id = theirs.id});
  if (batches_.find(theirs.id) != kNoSlot) return;  // the number is taken by another batch
  batches_.pass_over(theirs.id);
  if (!books_.take_running(invoker, theirs, now_)) return;
  Batch& batch = batches_[batches_.add(theirs.id)];
  batch.application = ApplicationId::none();
  batch.function = policy::SharedFunctionId::none();
  batch.invoker = invoker;
  batch.instance = loads_.enter_again(theirs.instance);
  batch.configuration = theirs.configuration;
  batch.positions = theirs.positions;
  batch.cancelled = true;
}

// What requests left there and is not there any more is lost; what is there of requests that are over may go.
void Scheduler::compare_objects(const InvokerJoined& event) {
  const std::set<RequestId> held(event.objects.begin(), event.objects.end());
  runs_.lose(event.id, held, now_);
  follow();
  for (const RequestId request : held) hold(request, event.id);
}

}  // namespace sluice::core
