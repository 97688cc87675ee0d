// Scheduler: the heart of Sluice as a deterministic value. Events and instants in, commands out; no clock, thread,
// lock, socket or log. Live server, simulator and replay drive this same class. It only connects the parts: what it
// knows is in state.h, what it does with it is in the steps that scheduler.cpp calls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/state.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "policy/policy.h"

namespace sluice::core {

class Scheduler {
 public:
  // `transfer`: what moving inputs is believed to take.
  explicit Scheduler(policy::Policies policies, const Limits& limits = {}, const Transfer& transfer = {});

  // REQUIRES: `now` never goes back. The same events and instants give the same commands.
  void observe(const Event& event, Time now);
  void decide(Time now, Commands& out);
  [[nodiscard]] std::optional<Time> next_wake() const;

  // The whole state, applications included. Loading one that a scheduler with the same policies saved changes no later
  // command; what cannot be loaded is an error and leaves the scheduler unusable.
  [[nodiscard]] std::string save();
  [[nodiscard]] Status load(std::string_view saved);

  [[nodiscard]] const Books& books() const { return state_.books; }
  [[nodiscard]] Counters counters() const;
  [[nodiscard]] std::size_t requests_in_system() const { return state_.requests.size(); }
  [[nodiscard]] std::size_t batches_running() const { return state_.batches.size(); }
  // Whether it was removed and nothing of it is left: no later command names its stages.
  [[nodiscard]] bool is_retired(ApplicationId id) const { return state_.applications.is_retired(id); }
  // Whether as many instances of its functions are loaded as stay loaded, also for calls that are expected.
  [[nodiscard]] bool is_warm(ApplicationId id) const;
  // What was deployed, by ApplicationId, and what planners believe of it now: its profiles as executions corrected
  // them.
  [[nodiscard]] std::size_t applications() const { return state_.applications.models().size(); }
  [[nodiscard]] const std::shared_ptr<const Application>& deployed(ApplicationId id) const {
    return state_.applications.controls()[id.index()].application;
  }
  [[nodiscard]] const std::shared_ptr<const Application>& believed(ApplicationId id) const {
    return state_.applications.models()[id.index()].application;
  }
  // And of its conditions and fan-outs, as a scheduler that begins anew can be told.
  [[nodiscard]] BranchesKnown known_branches(ApplicationId id) const { return state_.applications.known_branches(id); }
  // What a MakePlans asks for, as work that any thread can do: its result is what PlansMade may bring. Null: nobody
  // waits for it any more.
  [[nodiscard]] std::function<std::shared_ptr<const Plans>()> work_of(const MakePlans& order) const;
  // How many plans, and things that the policy derives from them, it made itself since it began because no event
  // brought them. Not part of its state: a replay makes all of them.
  [[nodiscard]] std::uint64_t planned_here() const {
    return state_.applications.plans_made_here() + state_.policies.dispatch->derived_here() +
           state_.policies.admission->derived_here();
  }
  [[nodiscard]] Time now() const { return state_.now; }  // the last instant it was told
  // Empty if all invariants hold, else what is broken. Full: O(state).
  [[nodiscard]] std::string broken_invariant() const;

 private:
  // One handler per event.
  void on(const ApplicationDeployed& event);
  void on(const ApplicationRemoved& event);
  void on(const CallsExpected& event);
  void on(const RequestAnnounced& event);
  void on(const RequestArrived& event);
  void on(const RequestCancelled& event);
  void on(const BatchExpired& event);
  void on(const BatchFinished& event);
  void on(const BatchFailed& event);
  void on(const InstanceLoaded& event);
  void on(const LoadFailed& event);
  void on(const InstanceUnloaded& event);
  void on(const InvokerJoined& event);
  void on(const InvokerChanged& event);
  void on(const InvokerDraining& event);
  void on(const InvokerLost& event);
  void on(const ObjectLost& event);
  void on(const ProfileChanged& event);
  void on(const BranchesKnown& event);
  void on(const QuotaChanged& event);
  void on(const PlansMade& event);

  State state_;
};

}  // namespace sluice::core
