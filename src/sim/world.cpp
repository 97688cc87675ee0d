#include "sim/world.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "record/command_hash.h"
#include "sim/acting.h"
#include "sim/containers.h"
#include "sim/deploying.h"
#include "sim/happening.h"
#include "sim/joining.h"
#include "sim/misfortune.h"
#include "sim/oracle/oracles.h"
#include "sim/telling.h"
#include "sim/world_state.h"

namespace sluice::sim {
namespace {

// Applications are deployed and machines join.
void begin(WorldState& world) {
  if (world.options.recorder != nullptr) {
    world.options.recorder->header({.scheduler = world.options.scheduler,
                                    .parameters = parameters_of(world.experiment, world.options.scheduler),
                                    .limits = world.options.limits,
                                    .transfer = world.experiment.transfer});
  }
  for (const Deployment& d : world.deployments) tell(world, ApplicationDeployed{d.id, believed(world, d)}, kStart);
  std::vector<std::vector<InstanceStatus>> containers(world.machines.size());
  if (world.experiment.instances == InstanceMode::counted && !world.options.begins_empty)
    containers = containers_at_start(world.experiment, world.machines.capacities());
  for (std::size_t i = 0; i < world.machines.size(); ++i) join(world, i, kStart, containers[i]);
}

void decide_once(WorldState& world, Time now) {
  world.commands.list.clear();
  world.scheduler->decide(now, world.commands);
  if (world.shadow != nullptr) compare_with_shadow(world, now);
  if (world.options.check_every_event) {
    if (const std::string broken = world.scheduler->broken_invariant(); !broken.empty()) world.violate(broken);
  }
  if (world.options.recorder != nullptr) world.options.recorder->decided(now, world.commands);
  if (!world.commands.list.empty()) world.hash.add(record::hash_of(world.commands));
  if (world.options.tamper) world.options.tamper(world.commands);
  if (world.options.oracles != nullptr) {
    world.options.oracles->decided(world.commands, now);
    if (!world.options.oracles->broken().empty()) world.violate(world.options.oracles->broken());
  }
  for (const Command& command : world.commands.list) act(world, command, now);
}

// Plans that are wanted are there at the same instant, and it is decided again: their time is charged to the first
// batch that uses their tables (policy/table_bill.h).
void decide(WorldState& world, Time now) {
  decide_once(world, now);
  while (!world.plans_wanted.empty()) {
    for (const MakePlans& wanted : std::exchange(world.plans_wanted, {}))
      tell(world, PlansMade{wanted.application, wanted.revision}, now);
    decide_once(world, now);
  }
  if (world.options.faults.any()) strike(world, now);
}

// Everything has drained: nothing is left that was accepted and not answered.
void drained(WorldState& world) {
  if (!world.asked.empty()) return world.violate(str(world.asked.size(), " requests were never answered"));
  if (world.scheduler->batches_running() > 0) return world.violate("batches are booked though nothing runs");
  for (std::size_t m = 0; m < world.left_at.size(); ++m) {
    if (world.machines.epoch(m) != 0 && !world.left_at[m].empty())
      return world.violate(
          str("machine ", m, " holds objects of request ", world.left_at[m].begin()->value(), ", which is over"));
  }
  if (world.scheduler->requests_in_system() > 0)
    return world.violate("requests are in the system though all were answered");
}

void sum_up(WorldState& world) {
  world.result.decisions = world.scheduler->counters().decisions;
  world.result.planned = world.scheduler->counters().planned;
  world.result.configuration_misses = world.scheduler->counters().configuration_misses;
  world.result.vcpu_capacity = static_cast<double>(world.machines.vcpus());
  world.result.slice_capacity = static_cast<double>(world.machines.slices());
  world.result.idle_warm_gb_s = world.machines.idle_gb_s(world.now);
  world.result.hash = world.hash.value();
}

}  // namespace

World::World(std::unique_ptr<WorldState> state) : state_(std::move(state)) {}
World::~World() = default;

Result<std::unique_ptr<World>> World::make(const Experiment& experiment, WorldOptions options,
                                           std::string_view trace_text) {
  std::vector<std::string> names;
  for (const Application& application : experiment.applications) names.push_back(application.name);
  auto stream = workload::ArrivalStream::make(experiment.workload, names, options.seed, trace_text);
  if (!stream) return stream.error();
  if (!options.policies) {
    auto policies = policy::make_scheduler(options.scheduler, parameters_of(experiment, options.scheduler));
    if (!policies) return policies.error();
  }
  auto state = std::make_unique<WorldState>(experiment, std::move(options), std::move(stream).value());
  if (const Status status = deploy(*state); !status) return status.error();
  return std::unique_ptr<World>(new World(std::move(state)));
}

RunResult World::run() {
  WorldState& world = *state_;
  begin(world);
  schedule_arrival(world);
  constexpr std::uint64_t kProgressEvery = 1 << 14;
  bool stopped = false;
  for (std::uint64_t steps = 0;; ++steps) {
    const auto wake = world.scheduler->next_wake();
    // A policy that only keeps things warm would wake for ever.
    if (world.heap.empty() && (!wake || world.asked.empty())) break;
    if (world.heap.empty() || (wake && *wake < world.heap.top().at)) {
      world.now = std::max(world.now, *wake);
    } else {
      world.now = world.heap.top().at;
      while (!world.heap.empty() && world.heap.top().at == world.now) {  // everything of one instant, then one decision
        const Happening happening = world.heap.top();
        world.heap.pop();
        happen(world, happening);
      }
    }
    decide(world, world.now);
    stopped = world.options.until_event && world.result.events >= *world.options.until_event;
    if (world.result.violation || stopped) break;
    if (world.options.progress && steps % kProgressEvery == 0) world.options.progress(world.next_request);
  }
  if (!world.result.violation && !stopped) drained(world);
  sum_up(world);
  return std::move(world.result);
}

}  // namespace sluice::sim
