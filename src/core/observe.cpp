// What each event does to the books.
#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"

namespace sluice::core {

Scheduler::Scheduler(policy::Policies policies, const Limits& limits)
    : policies_(std::move(policies)), limits_(limits) {}

void Scheduler::observe(const Event& event, Time now) {
  CHECK(now >= now_);
  now_ = now;
  std::visit([&](const auto& e) { on(e); }, event);
  settle();
}

void Scheduler::on(const ApplicationDeployed& event) {
  CHECK_MSG(event.id.index() == models_.size(), "applications are deployed in the order of their ids");
  auto profiles = plan::make_profiles(*event.application);
  CHECK_MSG(profiles.ok(), profiles.error().message);  // the driver deploys only what can be planned
  auto model = plan::make_model(*event.application, *profiles);
  CHECK_MSG(model.ok(), model.error().message);
  auto planner = std::make_shared<plan::FrontierPlanner>(std::move(model).value());
  controls_.push_back(make_control(event.id, event.application, planner, queues_));
  models_.push_back({event.id, event.application, std::move(planner)});
}

void Scheduler::on(const RequestArrived& event) {
  if (request_slots_.contains(event.id)) return;  // delivered twice
  arrivals_.push_back(event);
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
  if (it != request_slots_.end()) end_request(it->second, RequestOutcome::cancelled, StageId::none(), "");
}

Slot Scheduler::find_batch(BatchId id) const {
  const auto it = batch_slots_.find(id);
  return it == batch_slots_.end() ? kNoSlot : it->second;
}

void Scheduler::free_batch(Slot slot, bool machine_alive) {
  Batch& batch = batches_[slot];
  if (machine_alive) books_.give_back(batch.invoker, batch.configuration, batch.positions);
  batch_slots_.erase(batch.id);
  batches_.give_back(slot);
  changed_ = true;
}

// Integer division leaves a remainder of less than a pico-dollar a member; the oldest pays it, so that sums agree.
void Scheduler::bill(Batch& batch, Duration held) {
  const policy::ApplicationModel& model = models_[queues_[batch.queue.index()].application.index()];
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
      at.bytes += result->bytes;
      note(member.run, result->verdicts, result->fan_outs);
      item_done(member.run, member.stage);
    }
    settle();
  }
}

void Scheduler::fail_members(Slot slot, const std::string& error) {
  const std::vector<policy::Waiting> members = std::move(batches_[slot].members);
  free_batch(slot, books_.epoch(batches_[slot].invoker) == batches_[slot].epoch &&
                       books_.invokers()[batches_[slot].invoker.index()].vcpu > 0);
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

void Scheduler::on(const InvokerJoined& event) {
  if (books_.knows(event.id) && books_.epoch(event.id) >= event.epoch && books_.invokers()[event.id.index()].vcpu > 0)
    return;  // delivered twice
  if (books_.knows(event.id) && books_.invokers()[event.id.index()].vcpu > 0)
    on(InvokerLost{event.id, books_.epoch(event.id)});
  books_.join(event.id, event.epoch, event.capacity);
  changed_ = true;
}

void Scheduler::on(const InvokerDraining& event) {
  if (books_.knows(event.id)) books_.drain(event.id);
}

void Scheduler::on(const InvokerLost& event) {
  if (!books_.knows(event.id) || books_.epoch(event.id) != event.epoch || books_.invokers()[event.id.index()].vcpu == 0)
    return;
  books_.lose(event.id);
  std::vector<BatchId> lost;  // by id, so that the order repeats whatever slots they have
  for (const Batch& batch : batches_) {
    if (batch.used && batch.invoker == event.id) lost.push_back(batch.id);
  }
  std::sort(lost.begin(), lost.end());
  for (const BatchId id : lost) {
    if (const Slot slot = find_batch(id); slot != kNoSlot) fail_members(slot, "InvokerLost");
  }
}

}  // namespace sluice::core
