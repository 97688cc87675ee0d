#include "core/endings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/following.h"
#include "core/waiting.h"

namespace sluice::core {
namespace {

// Those that waited for its slices or vCPUs, and for nothing else any more, begin now.
void begin_followers(State& state, const Batch& ended) {
  for (const BatchId id : ended.followers) {
    const Slot slot = state.batches.find(id);
    if (slot == kNoSlot) continue;  // it ended before it began
    Batch& follower = state.batches[slot];
    std::erase(follower.after, ended.id);
    if (!follower.after.empty()) continue;
    follower.started = state.now;
    if (state.books.alive(follower.invoker)) state.books.begin(follower.invoker, id, state.now);
  }
}

// Its members, of which nothing is booked any more.
std::vector<policy::Waiting> end_batch(State& state, Slot slot, bool machine_alive) {
  Batch& batch = state.batches[slot];
  if (machine_alive) {
    state.books.give_back(batch.invoker, batch.id);
    if (batch.instance.valid()) state.loads.leave(batch.instance, state.now);
  }
  if (batch.application.valid()) {
    state.tenants.give_back(state.applications.models()[batch.application.index()].tenant, batch.configuration);
    state.applications.leave(batch.application);
  }
  begin_followers(state, batch);
  std::vector<policy::Waiting> members = std::move(batch.members);
  for (const policy::Waiting& member : members) {
    if (const auto request = state.requests.find(member.request))
      state.requests[*request].running.remove(batch.id.value());
  }
  state.batches.remove(slot);
  state.changed = true;
  return members;
}

// Integer division leaves a remainder of less than a pico-dollar a member; the oldest pays it, so that sums agree.
void bill(State& state, const Batch& batch, Duration held) {
  if (batch.members.empty()) return;  // it was nobody's
  const policy::ApplicationModel& model = state.applications.models()[batch.application.index()];
  const auto total = PicoDollars::from_dollars(model.application->prices.per_ms(batch.configuration) * held.to_ms());
  state.counters.billed += total;
  const auto count = static_cast<std::int64_t>(batch.members.size());
  for (std::size_t i = 0; i < batch.members.size(); ++i) {
    const policy::Waiting& member = batch.members[i];
    const auto request = state.runs.request_of(place_of(member));
    if (!request) continue;
    state.requests[*request].cost += PicoDollars(total.count() / count + (i == 0 ? total.count() % count : 0));
  }
}

// What a batch that ran to its end teaches; `measured` is its execution alone.
void learn(State& state, const Batch& batch, Duration measured) {
  if (batch.members.empty()) return;  // it was nobody's
  const auto members = static_cast<std::uint16_t>(batch.members.size());
  const Duration took = std::max(measured, state.now - batch.started - batch.moving);
  if (state.policies.learns) {
    state.applications.learn({.function = batch.function,
                              .queue = batch.queue,
                              .configuration = batch.configuration,
                              .members = members,
                              .execution = measured,
                              .beside = took - measured,
                              .neighbours = batch.neighbours});
  }
  state.policies.dispatch->ran(
      state.view(), {.queue = batch.queue, .configuration = batch.configuration, .members = members, .took = took});
}

}  // namespace

void hold(State& state, RequestId request, InvokerId invoker) {
  if (const auto slot = state.requests.find(request))
    state.runs.hold(*slot, invoker);
  else
    state.releases.push_back({invoker, request});
}

void finish_batch(State& state, const BatchFinished& event) {
  const Slot slot = state.batches.find(event.id);
  if (slot == kNoSlot) return;  // delivered twice, or of a machine that was given up
  bill(state, state.batches[slot], event.held);
  const auto ran = [](const InvocationResult& result) { return result.outcome != Outcome::not_run; };
  const bool all_ran = event.results.size() == state.batches[slot].members.size() &&
                       std::all_of(event.results.begin(), event.results.end(), ran);
  if (all_ran && !event.first) learn(state, state.batches[slot], event.measured);
  const InvokerId invoker = state.batches[slot].invoker;
  const ApplicationId application = state.batches[slot].application;
  const std::vector<policy::Waiting> members = end_batch(state, slot, true);
  for (const policy::Waiting& member : members) {
    const Place place = place_of(member);
    const auto result = std::find_if(event.results.begin(), event.results.end(),
                                     [&](const InvocationResult& r) { return r.id == member.invocation; });
    if (result == event.results.end()) {
      state.runs.failed(place, "NoResult", true, state.now);
    } else if (result->outcome == Outcome::not_run) {
      state.runs.not_run(place, result->error, state.now);
    } else if (result->outcome != Outcome::succeeded) {
      state.runs.failed(place, result->error, false, state.now);
    } else {
      if (!state.runs.expects(place)) hold(state, member.request, invoker);
      state.runs.succeeded(place, invoker, *result, state.now);
      if (state.policies.learns) state.applications.learn(application, result->verdicts, result->fan_outs);
    }
    follow(state);
  }
}

void expire_batch(State& state, const BatchExpired& event) {
  const Slot slot = state.batches.find(event.id);
  if (slot == kNoSlot) return;
  for (const policy::Waiting& member : end_batch(state, slot, true)) {
    state.runs.expired(place_of(member), state.now);
    follow(state);
  }
}

void fail_batch(State& state, BatchId id, const std::string& error) {
  const Slot slot = state.batches.find(id);
  if (slot == kNoSlot) return;
  const Batch& batch = state.batches[slot];
  const bool alive = state.books.alive(batch.invoker);
  // It takes this long at the least. A function that never ends in time would else never be known to be slow.
  const Duration took = state.now - batch.started - batch.moving;
  if (alive && batch.after.empty() && took > batch.execution) learn(state, batch, took);
  for (const policy::Waiting& member : end_batch(state, slot, alive)) {
    state.runs.failed(place_of(member), error, true, state.now);
    follow(state);
  }
}

}  // namespace sluice::core
