#include "core/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/dispatching.h"
#include "core/endings.h"
#include "core/following.h"
#include "core/intake.h"
#include "core/invariants.h"
#include "core/joining.h"
#include "core/losses.h"
#include "core/prewarming.h"
#include "policy/loading.h"

namespace sluice::core {
namespace {

// What was to be said since the last decision and in this one.
void tell(State& state, Commands& out) {
  for (Reply& answer : state.answers) state.tell(out, std::move(answer));
  state.answers.clear();
  for (const ReleaseObjects& release : state.releases) state.tell(out, release);
  state.releases.clear();
  for (const CancelBatch& cancel : state.cancels) state.tell(out, cancel);
  state.cancels.clear();
  for (const MakePlans& order : state.applications.orders()) state.tell(out, order);
}

// What only a removed application needed need not stay loaded.
void retire_removed(State& state) {
  const std::vector<ApplicationId> left = state.applications.left();
  if (!left.empty()) prewarm_soon(state);
  for (const ApplicationId id : left) {
    for (const policy::QueueId queue : state.applications.controls()[id.index()].queues)
      state.policies.dispatch->removed(state.view(), state.queues[queue]);
    state.applications.retire(id);
  }
}

}  // namespace

Scheduler::Scheduler(policy::Policies policies, const Limits& limits, const Transfer& transfer)
    : state_(std::move(policies), limits, transfer) {}

void Scheduler::observe(const Event& event, Time now) {
  CHECK(now >= state_.now);
  state_.now = now;
  std::visit([&](const auto& e) { on(e); }, event);
  follow(state_);
}

void Scheduler::decide(Time now, Commands& out) {
  CHECK(now >= state_.now);
  state_.now = now;
  state_.runs.fire(now);
  follow(state_);
  admit(state_, out);
  if (state_.changed || state_.is_due(state_.wake)) {
    dispatch(state_, out);
    prewarm_soon(state_);
  }
  state_.changed = false;
  if (state_.books.cold_invokers() > 0) prewarm(state_, out);
  tell(state_, out);
  retire_removed(state_);
}

std::optional<Time> Scheduler::next_wake() const {
  std::optional<Time> next = state_.runs.next_timer();
  const auto earlier = [&](std::optional<Time> other) {
    if (other && (!next || *other < *next)) next = other;
  };
  earlier(state_.wake);
  if (state_.books.cold_invokers() > 0) earlier(state_.prewarm_at);
  return next;
}

Counters Scheduler::counters() const {
  Counters out = state_.counters;
  out.retries = state_.runs.retries();
  return out;
}

std::function<std::shared_ptr<const Plans>()> Scheduler::work_of(const MakePlans& order) const {
  const Belief* belief = state_.applications.ordered(order);
  if (belief == nullptr) return {};
  const auto& application = belief->application != nullptr ? belief->application : deployed(order.application);
  return [application, assumptions = belief->assumptions,
          derive = state_.policies.dispatch->derives(state_.view(), order.application)] {
    return make_plans(*application, assumptions, derive);
  };
}

bool Scheduler::is_warm(ApplicationId id) const {
  if (state_.books.cold_invokers() == 0) return true;
  const policy::View view = state_.view();
  const auto& shared = state_.applications.controls()[id.index()].shared;
  return std::all_of(shared.begin(), shared.end(), [&](policy::SharedFunctionId function) {
    const policy::SharedFunction& one = view.functions[function.index()];
    return policy::stock_of(view, one).ready >= one.min_instances;
  });
}

std::string Scheduler::broken_invariant() const {
  return core::broken_invariant(state_);
}

void Scheduler::on(const ApplicationDeployed& event) {
  state_.applications.deploy(event.id, event.application, event.brought.plans);
  prewarm_soon(state_);  // for functions that are kept loaded
}

void Scheduler::on(const ApplicationRemoved& event) {
  state_.applications.remove(event.id);
  prewarm_soon(state_);
}

void Scheduler::on(const CallsExpected& event) {
  state_.applications.expect_calls(event);
  prewarm_soon(state_);
}

void Scheduler::on(const ProfileChanged& event) {
  state_.applications.change_profile(event);
}

void Scheduler::on(const BranchesKnown& event) {
  state_.applications.learn(event);
}

void Scheduler::on(const PlansMade& event) {
  if (state_.applications.made(event)) state_.changed = true;
}

void Scheduler::on(const QuotaChanged& event) {
  state_.tenants.set(event);
  state_.changed = true;
}

void Scheduler::on(const RequestAnnounced& event) {
  announce(state_, event);
}

void Scheduler::on(const RequestArrived& event) {
  arrive(state_, event);
}

void Scheduler::on(const RequestCancelled& event) {
  cancel(state_, event);
}

void Scheduler::on(const BatchFinished& event) {
  finish_batch(state_, event);
}

void Scheduler::on(const BatchExpired& event) {
  expire_batch(state_, event);
}

void Scheduler::on(const BatchFailed& event) {
  fail_batch(state_, event.id, event.error);
}

void Scheduler::on(const InstanceLoaded& event) {
  const bool from_host = state_.loads.is_raised_from_host(event.instance);
  const auto function = state_.loads.loaded(event, state_.now);
  if (!function) return;
  state_.demands.loaded(*function, event.measured, from_host);
  ++state_.counters.loads;
  state_.changed = true;
}

void Scheduler::on(const LoadFailed& event) {
  fail_load(state_, event);
}

void Scheduler::on(const InstanceUnloaded& event) {
  if (state_.loads.unloaded(event, state_.now)) state_.changed = true;
}

void Scheduler::on(const InvokerJoined& event) {
  join(state_, event);
}

void Scheduler::on(const InvokerChanged& event) {
  if (!state_.books.alive(event.id)) return;
  state_.books.change(event.id, event.capacity);
  state_.changed = true;
}

void Scheduler::on(const InvokerDraining& event) {
  if (state_.books.alive(event.id)) state_.books.drain(event.id);
}

void Scheduler::on(const InvokerLost& event) {
  const bool current = state_.books.alive(event.id) && state_.books.life(event.id) == Life{event.epoch, event.session};
  if (current) lose_invoker(state_, event.id);
}

void Scheduler::on(const ObjectLost& event) {
  lose_object(state_, event);
}

}  // namespace sluice::core
