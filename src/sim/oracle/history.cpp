#include "sim/oracle/history.h"

#include <algorithm>
#include <utility>

#include "domain/run_path.h"

namespace sluice::sim {

void History::observed(const Event& event, Time now) {
  now_ = now;
  ended_.clear();
  std::visit([&](const auto& e) { on(e); }, event);
}

void History::decided(const Command& command, Time now) {
  now_ = now;
  if (const auto* batch = std::get_if<StartBatch>(&command.action)) {
    start(*batch);
  } else if (const auto* load = std::get_if<LoadInstance>(&command.action)) {
    instances_[{load->invoker, load->instance}] = {load->application, load->function};
  } else if (const auto* reply = std::get_if<Reply>(&command.action)) {
    calls_.erase(reply->request);
  } else if (const auto* reject = std::get_if<Reject>(&command.action)) {
    calls_.erase(reject->request);
  }
}

const History::Call* History::call(RequestId id) const {
  const auto it = calls_.find(id);
  return it == calls_.end() ? nullptr : &it->second;
}

const History::Instance* History::instance(InvokerId invoker, InstanceId id) const {
  const auto it = instances_.find({invoker, id});
  return it == instances_.end() ? nullptr : &it->second;
}

bool History::same_function(const Instance& a, const Instance& b) const {
  const Application &of_a = application(a.application), &of_b = application(b.application);
  return of_a.tenant == of_b.tenant && of_a.function(a.function) == of_b.function(b.function);
}

const Stage& History::stage_of(const BatchMember& member) const {
  return workflow_of(application(calls_.at(member.request).application), member.path).at(member.stage);
}

void History::on(const ApplicationDeployed& event) {
  applications_[event.id] = event.application;
}

void History::on(const RequestArrived& event) {
  calls_.try_emplace(
      event.id,
      Call{.application = event.application, .arrival = now_, .deadline = event.deadline, .quiet_since = now_});
}

void History::on(const RequestCancelled& event) {
  if (const auto it = calls_.find(event.id); it != calls_.end()) it->second.cancelled = true;
}

const History::Tenant& History::tenant_of(ApplicationId application) const {
  static const Tenant kUnknown;
  const auto it = tenants_.find(this->application(application).tenant);
  return it == tenants_.end() ? kUnknown : it->second;
}

void History::on(const QuotaChanged& event) {
  Tenant& tenant = tenants_[event.tenant];
  tenant.vcpu_max = event.vcpu;
  tenant.slices_max = event.slices;
  tenant.quota_since = now_;
}

void History::start(const StartBatch& batch) {
  batches_[batch.id] = batch;
  ++machines_[batch.invoker].running;
  Tenant& tenant = tenants_[application(batch.application).tenant];
  ++tenant.running;
  tenant.vcpu += batch.configuration.vcpu;
  tenant.slices += batch.configuration.slices;
  std::set<RequestId> requests;
  for (const BatchMember& member : batch.members) {
    const auto it = calls_.find(member.request);
    if (it == calls_.end()) continue;
    it->second.running += requests.insert(member.request).second ? 1 : 0;
    if (!stage_of(member).idempotent) it->second.ran_unrepeatable = true;
  }
}

void History::end(BatchId id, EndedBatch how) {
  const auto it = batches_.find(id);
  if (it == batches_.end()) return;
  how.start = std::move(it->second);
  batches_.erase(it);
  Machine& machine = machines_[how.start.invoker];
  if (--machine.running == 0) machine.idle_since = now_;
  Tenant& tenant = tenants_[application(how.start.application).tenant];
  if (--tenant.running == 0) tenant.idle_since = now_;
  tenant.vcpu -= how.start.configuration.vcpu;
  tenant.slices -= how.start.configuration.slices;
  std::set<RequestId> requests;
  for (const BatchMember& member : how.start.members) {
    const auto call = calls_.find(member.request);
    if (call == calls_.end() || !requests.insert(member.request).second) continue;
    if (--call->second.running == 0) call->second.quiet_since = now_;
    if (how.how == EndedBatch::How::finished) call->second.left_at.insert(how.start.invoker);
  }
  ended_.push_back(std::move(how));
}

void History::on(const BatchExpired& event) {
  end(event.id, {.how = EndedBatch::How::expired});
}
void History::on(const BatchFinished& event) {
  end(event.id, {.how = EndedBatch::How::finished, .results = event.results});
}
void History::on(const BatchFailed& event) {
  end(event.id, {.how = EndedBatch::How::failed, .error = event.error});
}

void History::fail_all_at(InvokerId invoker, const std::set<BatchId>& still_running) {
  std::vector<BatchId> gone;
  for (const auto& [id, batch] : batches_) {
    if (batch.invoker == invoker && !still_running.contains(id)) gone.push_back(id);
  }
  for (const BatchId id : gone) end(id, {.how = EndedBatch::How::failed, .error = "InvokerLost"});
}

void History::lose_objects_at(InvokerId invoker, const std::set<RequestId>& still_held) {
  for (auto& [id, call] : calls_) {
    if (!still_held.contains(id) && call.left_at.erase(invoker) > 0) ++call.losses;
  }
}

void History::on(const ObjectLost& event) {
  const auto it = calls_.find(event.request);
  if (it != calls_.end() && it->second.left_at.erase(event.invoker) > 0) ++it->second.losses;
}

void History::on(const InstanceLoaded& event) {
  const Instance* loaded = instance(event.invoker, event.instance);
  if (loaded == nullptr) return;
  std::erase_if(failed_loads_, [&](const FailedLoad& f) {
    return same_function(*loaded, {f.application, f.function});
  });
}

void History::on(const LoadFailed& event) {
  if (const Instance* failed = instance(event.invoker, event.instance))
    failed_loads_.push_back({now_, failed->application, failed->function, event.error});
}

void History::on(const InvokerJoined& event) {
  Machine& machine = machines_[event.id];
  const bool older = std::pair(event.epoch, event.session) <= std::pair(machine.epoch, machine.session);
  if (older && machine.epoch != 0) return;  // delivered twice
  const bool same_life = machine.up && machine.epoch == event.epoch;
  std::set<BatchId> running;
  for (const RunningBatch& batch : event.running) running.insert(batch.id);
  fail_all_at(event.id, same_life ? running : std::set<BatchId>{});
  lose_objects_at(event.id, same_life ? std::set(event.objects.begin(), event.objects.end()) : std::set<RequestId>{});
  for (const InstanceStatus& status : event.instances)
    instances_[{event.id, status.id}] = {status.application, status.function};
  if (!same_life) machine.idle_since = now_;
  machine.capacity = event.capacity;
  machine.epoch = event.epoch;
  machine.session = event.session;
  machine.up = true;
  machine.draining = false;
}

void History::on(const InvokerChanged& event) {
  Machine& machine = machines_[event.id];
  machine.capacity = event.capacity;
  machine.idle_since = std::max(machine.idle_since, now_);  // what it can hold is new
}

void History::on(const InvokerDraining& event) {
  machines_[event.id].draining = true;
}

void History::on(const InvokerLost& event) {
  Machine& machine = machines_[event.id];
  if (!machine.up || machine.epoch != event.epoch || machine.session != event.session) return;
  machine.up = false;
  fail_all_at(event.id, {});
  lose_objects_at(event.id, {});
}

}  // namespace sluice::sim
