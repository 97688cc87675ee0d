// What each event does to the books.
#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"

namespace sluice::core {

Scheduler::Scheduler(policy::Policies policies, const Limits& limits, const Transfer& transfer)
    : policies_(std::move(policies)),
      limits_(limits),
      transfer_(transfer),
      applications_(queues_, tenants_),
      loads_(books_, applications_.functions()),
      runs_(applications_.controls(), limits.attempts_max) {}

void Scheduler::observe(const Event& event, Time now) {
  CHECK(now >= now_);
  now_ = now;
  std::visit([&](const auto& e) { on(e); }, event);
  follow();
}

void Scheduler::on(const ApplicationDeployed& event) {
  const bool rewritten = policies_.transform != nullptr;
  applications_.deploy(event.id, rewritten ? policies_.transform->deployed(event.application) : event.application);
}

void Scheduler::on(const ApplicationRemoved& event) {
  applications_.remove(event.id);
}

void Scheduler::on(const ProfileChanged& event) {
  if (applications_.change_profile(event)) changed_ = true;
}

void Scheduler::on(const QuotaChanged& event) {
  tenants_.set(event);
  changed_ = true;
}

void Scheduler::on(const RequestArrived& event) {
  const auto same = [&](const RequestArrived& other) { return other.id == event.id; };
  if (requests_.find(event.id) || std::any_of(arrivals_.begin(), arrivals_.end(), same)) return;  // twice
  if (policies_.learns && applications_.learn(event.application, event.verdicts, event.fan_outs)) changed_ = true;
  arrivals_.push_back(event);
  const auto known = std::find_if(announced_.begin(), announced_.end(),
                                  [&](const RequestAnnounced& a) { return a.application == event.application; });
  if (known != announced_.end() && --known->count == 0) announced_.erase(known);
}

void Scheduler::on(const RequestAnnounced& event) {
  if (!applications_.takes_requests(event.application)) return;
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
  if (const auto slot = requests_.find(event.id)) runs_.cancel(*slot, now_);
}

void Scheduler::on(const ObjectLost& event) {
  const auto slot = requests_.find(event.request);
  if (!slot) return;
  runs_.lose(*slot, event.invoker, now_);
  // What still runs there will leave something.
  requests_[*slot].running.for_each([&](std::uint64_t, Slot batch) {
    if (batches_[batch].invoker == event.invoker) runs_.hold(*slot, event.invoker);
  });
}

// Its members, of which nothing is booked any more.
std::vector<policy::Waiting> Scheduler::end_batch(Slot slot, bool machine_alive) {
  Batch& batch = batches_[slot];
  if (machine_alive) {
    books_.give_back(batch.invoker, batch.id);
    if (batch.instance.valid()) loads_.leave(batch.instance, now_);
  }
  if (batch.application.valid()) {
    tenants_.give_back(applications_.models()[batch.application.index()].tenant, batch.configuration);
    applications_.leave(batch.application);
  }
  std::vector<policy::Waiting> members = std::move(batch.members);
  for (const policy::Waiting& member : members) {
    if (const auto request = requests_.find(member.request)) requests_[*request].running.remove(batch.id.value());
  }
  batches_.remove(slot);
  changed_ = true;
  return members;
}

// Integer division leaves a remainder of less than a pico-dollar a member; the oldest pays it, so that sums agree.
void Scheduler::bill(Batch& batch, Duration held) {
  if (batch.members.empty()) return;  // it was nobody's
  const policy::ApplicationModel& model = applications_.models()[batch.application.index()];
  const auto total = PicoDollars::from_dollars(model.application->prices.per_ms(batch.configuration) * held.to_ms());
  counters_.billed += total;
  const auto count = static_cast<std::int64_t>(batch.members.size());
  for (std::size_t i = 0; i < batch.members.size(); ++i) {
    const policy::Waiting& member = batch.members[i];
    const auto request = runs_.request_of(place_of(member));
    if (!request) continue;
    requests_[*request].cost += PicoDollars(total.count() / count + (i == 0 ? total.count() % count : 0));
  }
}

void Scheduler::on(const BatchFinished& event) {
  const Slot slot = batches_.find(event.id);
  if (slot == kNoSlot) return;  // delivered twice, or of a machine that was given up
  bill(batches_[slot], event.held);
  const auto ran = [](const InvocationResult& result) { return result.outcome != Outcome::not_run; };
  const bool all_ran = event.results.size() == batches_[slot].members.size() &&
                       std::all_of(event.results.begin(), event.results.end(), ran);
  if (policies_.learns && all_ran) learn(batches_[slot], event.measured);
  const InvokerId invoker = batches_[slot].invoker;
  const ApplicationId application = batches_[slot].application;
  const std::vector<policy::Waiting> members = end_batch(slot, true);
  for (const policy::Waiting& member : members) {
    const Place place = place_of(member);
    const auto result = std::find_if(event.results.begin(), event.results.end(),
                                     [&](const InvocationResult& r) { return r.id == member.invocation; });
    if (result == event.results.end()) {
      runs_.failed(place, "NoResult", true, now_);
    } else if (result->outcome == Outcome::not_run) {
      runs_.not_run(place, result->error, now_);
    } else if (result->outcome != Outcome::succeeded) {
      runs_.failed(place, result->error, false, now_);
    } else {
      if (!runs_.expects(place)) hold(member.request, invoker);
      runs_.succeeded(place, invoker, *result, now_);
      if (policies_.learns && applications_.learn(application, result->verdicts, result->fan_outs)) changed_ = true;
    }
    follow();
  }
}

// What nobody reads goes with its request, or at once if that is over.
void Scheduler::hold(RequestId request, InvokerId invoker) {
  if (const auto slot = requests_.find(request))
    runs_.hold(*slot, invoker);
  else
    releases_.push_back({invoker, request});
}

void Scheduler::learn(const Batch& batch, Duration measured) {
  if (batch.members.empty()) return;  // it was nobody's
  Configuration ran = batch.configuration;
  ran.batch = static_cast<std::uint16_t>(batch.members.size());
  if (applications_.learn(batch.function, ran, measured)) changed_ = true;
}

void Scheduler::fail_members(Slot slot, const std::string& error) {
  for (const policy::Waiting& member : end_batch(slot, books_.alive(batches_[slot].invoker))) {
    runs_.failed(place_of(member), error, true, now_);
    follow();
  }
}

void Scheduler::on(const BatchExpired& event) {
  const Slot slot = batches_.find(event.id);
  if (slot == kNoSlot) return;
  for (const policy::Waiting& member : end_batch(slot, true)) {
    runs_.expired(place_of(member), now_);
    follow();
  }
}

void Scheduler::on(const BatchFailed& event) {
  if (const Slot slot = batches_.find(event.id); slot != kNoSlot) fail_members(slot, event.error);
}

void Scheduler::on(const InstanceLoaded& event) {
  const bool from_host = loads_.is_raised_from_host(event.instance);
  const auto function = loads_.loaded(event, now_);
  if (!function) return;
  demands_.loaded(*function, event.measured, from_host);
  ++counters_.loads;
  changed_ = true;
}

// A function that fails to load again and again would keep its requests for ever: those that have waited through as
// many failures as an invocation may have are answered. Who came later has as many attempts ahead.
void Scheduler::on(const LoadFailed& event) {
  const auto function = loads_.failed(event, now_);
  if (!function) return;
  changed_ = true;
  const auto since = loads_.failing_since(*function, limits_.attempts_max);
  if (!since) return;
  for (const policy::QueueId queue : applications_.functions()[function->index()].queues) {
    // By readiness: what is tried again or comes later is behind.
    while (!queues_[queue].waiting.empty() && queues_[queue].waiting[0].ready <= *since) {
      const policy::Waiting waiting = take_waiting(queue, 0);
      runs_.fail_stage(place_of(waiting), event.error.empty() ? "LoadFailed" : event.error, now_);
      follow();
    }
  }
}

void Scheduler::on(const InstanceUnloaded& event) {
  if (loads_.unloaded(event, now_)) changed_ = true;
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
  requests_.forget_promises(invoker);
  queues_.forget_promises(invoker);
  books_.lose(invoker);
  loads_.lose(invoker);
  runs_.lose(invoker, {}, now_);
  follow();
  for (const BatchId id : batches_.at(invoker)) {
    if (const Slot slot = batches_.find(id); slot != kNoSlot) fail_members(slot, "InvokerLost");
  }
}

}  // namespace sluice::core
