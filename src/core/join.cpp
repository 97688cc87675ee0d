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
    forget_instances(event.id);
  } else {
    if (books_.alive(event.id)) lose(event.id);
    settle();
    books_.join(event.id, life, event.capacity, event.warm);
  }
  for (const InstanceStatus& status : event.instances) add_instance(event.id, status);
  compare_objects(event);
  compare_batches(event);
  changed_ = true;
}

// Their memory and room are given back; what is really there is told anew.
void Scheduler::forget_instances(InvokerId invoker) {
  for (const InstanceId id : instances_.at(invoker)) {
    const policy::Instance& instance = *instances_.find(id);
    give_back_memory(instance, instance.level);
    if (instance.wanted != instance.level)
      give_back_memory(instance, instance.wanted);
    else
      close_room(*instances_.find(id));
    instances_.remove(id);
  }
}

// Batches that still run stay booked, and the joiner will say how they end. Those it no longer knows have failed with
// it; those that only it knows are stopped, and booked until it says that they have.
void Scheduler::compare_batches(const InvokerJoined& event) {
  std::set<BatchId> running;
  for (const RunningBatch& theirs : event.running) {
    const Slot slot = find_batch(theirs.id);
    if (slot == kNoSlot || !is_same(batches_[slot], event.id, theirs)) {
      adopt(event.id, theirs);
      continue;
    }
    running.insert(theirs.id);
    Batch& batch = batches_[slot];
    batch.instance = reenter(theirs.instance);
    if (batch.cancelled) cancels_.push_back({.invoker = event.id, .id = batch.id});  // may have been lost on its way
  }
  for (const BatchId id : batches_at(event.id)) {
    const Slot slot = find_batch(id);
    if (slot == kNoSlot || running.contains(id) || batches_[slot].members.empty()) continue;
    batches_[slot].instance = InstanceId::none();  // counted anew above
    fail_members(slot, "InvokerLost");
  }
}

bool Scheduler::is_same(const Batch& batch, InvokerId invoker, const RunningBatch& theirs) const {
  return batch.invoker == invoker && batch.configuration == theirs.configuration &&
         batch.positions == theirs.positions &&
         std::equal(batch.members.begin(), batch.members.end(), theirs.invocations.begin(), theirs.invocations.end(),
                    [](const policy::Waiting& member, InvocationId id) { return member.invocation == id; });
}

// A batch of nobody: it is told to stop, and holds what it takes until it has.
void Scheduler::adopt(InvokerId invoker, const RunningBatch& theirs) {
  cancels_.push_back({.invoker = invoker, .id = theirs.id});
  if (find_batch(theirs.id) != kNoSlot) return;  // the number is taken by another batch
  next_batch_ = std::max(next_batch_, theirs.id.value() + 1);
  if (!books_.take_running(invoker, theirs, now_)) return;
  const Slot slot = batches_.take();
  Batch& batch = batches_[slot];
  batch.id = theirs.id;
  batch.application = ApplicationId::none();
  batch.function = policy::SharedFunctionId::none();
  batch.invoker = invoker;
  batch.instance = reenter(theirs.instance);
  batch.configuration = theirs.configuration;
  batch.positions = theirs.positions;
  batch.cancelled = true;
  batch.members.clear();
  batch_slots_.emplace(theirs.id, slot);
}

// One more batch runs on an instance the joiner brought along; nothing if it has no room for one more.
InstanceId Scheduler::reenter(InstanceId id) {
  policy::Instance* instance = id.valid() ? instances_.find(id) : nullptr;
  if (instance == nullptr || instance->wanted != instance->level || instance->running >= instance->batches)
    return InstanceId::none();
  close_room(*instance);
  ++instance->running;
  open_room(*instance);
  return id;
}

// What requests left there and is not there any more is lost; what is there of requests that are over may go.
void Scheduler::compare_objects(const InvokerJoined& event) {
  const std::set<RequestId> held(event.objects.begin(), event.objects.end());
  lose_objects_of(event.id, held);
  for (const RequestId request : held) {
    const auto it = request_slots_.find(request);
    if (it == request_slots_.end()) {
      releases_.push_back({event.id, request});
      continue;
    }
    auto& left_at = requests_[it->second].left_at;
    if (std::find(left_at.begin(), left_at.end(), event.id) == left_at.end()) left_at.push_back(event.id);
  }
}

}  // namespace sluice::core
