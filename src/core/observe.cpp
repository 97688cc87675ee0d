// What each event does to the books.
#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"

namespace sluice::core {

Scheduler::Scheduler(policy::Policies policies, const Limits& limits, const Transfer& transfer)
    : policies_(std::move(policies)), limits_(limits), transfer_(transfer) {}

void Scheduler::observe(const Event& event, Time now) {
  CHECK(now >= now_);
  now_ = now;
  std::visit([&](const auto& e) { on(e); }, event);
  settle();
}

void Scheduler::on(const RequestArrived& event) {
  const auto same = [&](const RequestArrived& other) { return other.id == event.id; };
  if (request_slots_.contains(event.id) || std::any_of(arrivals_.begin(), arrivals_.end(), same)) return;  // twice
  arrivals_.push_back(event);
  const auto known = std::find_if(announced_.begin(), announced_.end(),
                                  [&](const RequestAnnounced& a) { return a.application == event.application; });
  if (known != announced_.end() && --known->count == 0) announced_.erase(known);
}

void Scheduler::on(const RequestAnnounced& event) {
  if (event.application.index() >= models_.size() || models_[event.application.index()].removed) return;
  if (event.count == 0 || announced_.size() >= limits_.announced_max) return;
  announced_.push_back(event);
  changed_ = true;
}

void Scheduler::on(const RequestCancelled& event) {
  const auto arrived =
      std::find_if(arrivals_.begin(), arrivals_.end(), [&](const RequestArrived& a) { return a.id == event.id; });
  if (arrived != arrivals_.end()) {
    arrivals_.erase(arrived);
    ++counters_.accepted;
    ++counters_.cancelled;
    answers_.push_back(Reply{.request = event.id, .outcome = RequestOutcome::cancelled});
    return;
  }
  const auto it = request_slots_.find(event.id);
  if (it == request_slots_.end()) return;
  end_request(it->second, RequestOutcome::cancelled, StageId::none(), "");
  cancel_batches_of(event.id);
}

// Stops what runs for nobody else. Its books stay until the invoker says that it has stopped.
void Scheduler::cancel_batches_of(RequestId request) {
  std::vector<CancelBatch> stopped;
  for (Slot slot = 0; slot < batches_.size(); ++slot) {
    Batch& batch = batches_[slot];
    if (!batch.used) continue;
    const auto theirs = [&](const policy::Waiting& m) { return m.request == request; };
    if (batch.cancelled || std::none_of(batch.members.begin(), batch.members.end(), theirs)) continue;
    if (std::any_of(batch.members.begin(), batch.members.end(), [&](const policy::Waiting& m) { return expected(m); }))
      continue;
    batch.cancelled = true;
    stopped.push_back({.invoker = batch.invoker, .id = batch.id});
  }
  std::sort(stopped.begin(), stopped.end(), [](const CancelBatch& a, const CancelBatch& b) { return a.id < b.id; });
  cancels_.insert(cancels_.end(), stopped.begin(), stopped.end());
}

Slot Scheduler::find_batch(BatchId id) const {
  const auto it = batch_slots_.find(id);
  return it == batch_slots_.end() ? kNoSlot : it->second;
}

void Scheduler::free_batch(Slot slot, bool machine_alive) {
  Batch& batch = batches_[slot];
  if (machine_alive) {
    books_.give_back(batch.invoker, batch.id);
    if (batch.instance.valid()) leave_instance(batch.instance);
  }
  batch_slots_.erase(batch.id);
  if (batch.application.valid()) --controls_[batch.application.index()].in_use;
  batches_.give_back(slot);
  changed_ = true;
}

void Scheduler::leave_instance(InstanceId id) {
  policy::Instance* instance = instances_.find(id);
  if (instance == nullptr) return;
  CHECK(instance->running > 0);
  --instance->running;
  instance->idle_since = now_;
  if (instance->level == Level::none && instance->running == 0) return instances_.remove(id);
  if (instance->wanted != instance->level) return;
  const bool on_gpu = instance->level == Level::device;
  books_.room(instance->invoker, on_gpu ? std::optional(instance->gpu) : std::nullopt).add(instance->function, 1);
}

// Integer division leaves a remainder of less than a pico-dollar a member; the oldest pays it, so that sums agree.
void Scheduler::bill(Batch& batch, Duration held) {
  if (batch.members.empty()) return;  // it was nobody's
  const policy::ApplicationModel& model = models_[batch.application.index()];
  const auto total = PicoDollars::from_dollars(model.application->prices.per_ms(batch.configuration) * held.to_ms());
  counters_.billed += total;
  const auto count = static_cast<std::int64_t>(batch.members.size());
  for (std::size_t i = 0; i < batch.members.size(); ++i) {
    const policy::Waiting& member = batch.members[i];
    if (!alive(member.run, member.generation)) continue;
    requests_[runs_[member.run].request].cost +=
        PicoDollars(total.count() / count + (i == 0 ? total.count() % count : 0));
  }
}

void Scheduler::on(const BatchFinished& event) {
  const Slot slot = find_batch(event.id);
  if (slot == kNoSlot) return;  // delivered twice, or of a machine that was given up
  bill(batches_[slot], event.held);
  if (policies_.learns && event.results.size() == batches_[slot].members.size()) learn(batches_[slot], event.measured);
  const std::vector<policy::Waiting> members = std::move(batches_[slot].members);
  const InvokerId invoker = batches_[slot].invoker;
  free_batch(slot, true);
  for (const policy::Waiting& member : members) {
    if (!expected(member)) continue;
    const auto result = std::find_if(event.results.begin(), event.results.end(),
                                     [&](const InvocationResult& r) { return r.id == member.invocation; });
    if (result == event.results.end()) {
      invocation_failed(member, "NoResult", true);
    } else if (result->outcome != Outcome::succeeded) {
      invocation_failed(member, result->error, false);
    } else {
      StageRun& at = runs_[member.run].stages[member.stage];
      at.outputs_at = invoker;
      at.lost = false;
      at.bytes += result->bytes;
      auto& left_at = requests_[runs_[member.run].request].left_at;
      if (std::find(left_at.begin(), left_at.end(), invoker) == left_at.end()) left_at.push_back(invoker);
      note(member.run, result->verdicts, result->fan_outs);
      item_done(member.run, member.stage);
    }
    settle();
  }
}

void Scheduler::fail_members(Slot slot, const std::string& error) {
  const std::vector<policy::Waiting> members = std::move(batches_[slot].members);
  free_batch(slot, books_.alive(batches_[slot].invoker));
  for (const policy::Waiting& member : members) {
    invocation_failed(member, error, true);
    settle();
  }
}

void Scheduler::on(const BatchExpired& event) {
  if (const Slot slot = find_batch(event.id); slot != kNoSlot) fail_members(slot, "Expired");
}

void Scheduler::on(const BatchFailed& event) {
  if (const Slot slot = find_batch(event.id); slot != kNoSlot) fail_members(slot, event.error);
}

void Scheduler::on(const InvokerChanged& event) {
  if (!books_.alive(event.id)) return;
  books_.change(event.id, event.capacity);
  changed_ = true;
}

void Scheduler::on(const InvokerDraining& event) {
  if (books_.alive(event.id)) books_.drain(event.id);
}

void Scheduler::on(const InvokerLost& event) {
  if (books_.alive(event.id) && books_.life(event.id) == Life{event.epoch, event.session}) lose(event.id);
}

void Scheduler::lose(InvokerId invoker) {
  lose_promises_of(invoker);
  books_.lose(invoker);
  for (const InstanceId id : instances_.at(invoker)) instances_.remove(id);
  lose_objects_of(invoker);
  for (const BatchId id : batches_at(invoker)) {
    if (const Slot slot = find_batch(id); slot != kNoSlot) fail_members(slot, "InvokerLost");
  }
}

// By id, so that the order repeats whatever slots they have.
std::vector<BatchId> Scheduler::batches_at(InvokerId invoker) const {
  std::vector<BatchId> out;
  for (const Batch& batch : batches_) {
    if (batch.used && batch.invoker == invoker) out.push_back(batch.id);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace sluice::core
