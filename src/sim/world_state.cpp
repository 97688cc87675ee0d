#include "sim/world_state.h"

#include <utility>

#include "base/check.h"
#include "policy/catalog.h"
#include "sim/describe.h"

namespace sluice::sim {
namespace {

policy::Policies make_policies(const Experiment& experiment, const WorldOptions& options) {
  if (options.policies) return options.policies();
  auto policies =
      policy::make_scheduler(options.scheduler, parameters_of(experiment, options.scheduler), options.prepared);
  CHECK(policies.ok());
  return std::move(policies).value();
}

}  // namespace

const policy::Parameters& parameters_of(const Experiment& experiment, const std::string& scheduler) {
  static const policy::Parameters kNone;
  const auto it = experiment.parameters.find(scheduler);
  return it == experiment.parameters.end() ? kNone : it->second;
}

WorldState::WorldState(const Experiment& given, WorldOptions wanted, workload::ArrivalStream arrivals)
    : experiment(given),
      options(std::move(wanted)),
      stream(std::move(arrivals)),
      machines(given.cluster),
      sessions(machines.size()),
      left_at(machines.size()),
      luck(Rng::keyed(options.seed, 77)) {
  result.scheduler = options.scheduler;
  result.seed = options.seed;
}

void WorldState::schedule(Time at, HappeningKind kind, std::uint64_t subject) {
  heap.push({at, next_order++, kind, subject});
}

void WorldState::violate(std::string what) {
  if (result.violation) return;
  result.violation = Violation{result.events, std::move(what), {}};
  for (const auto& [event, at] : last) result.violation->last_events.push_back(describe(event, at));
}

std::unique_ptr<core::Scheduler> WorldState::fresh_scheduler() const {
  return std::make_unique<core::Scheduler>(make_policies(experiment, options), options.limits, experiment.transfer);
}

}  // namespace sluice::sim
