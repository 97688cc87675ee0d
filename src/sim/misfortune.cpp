#include "sim/misfortune.h"

#include <algorithm>
#include <memory>

#include "sim/joining.h"
#include "sim/reporting.h"
#include "sim/telling.h"

namespace sluice::sim {
namespace {

void take_down(WorldState& world, std::size_t machine, Time now) {
  for (const BatchId id : world.running_order) {
    const auto it = world.running.find(id.value());
    if (it == world.running.end() || it->second.gone || it->second.start.invoker.index() != machine) continue;
    it->second.gone = true;
    report(world, it->second, ActionEnd::lost, now);
    world.followers.erase(id.value());  // they are lost with it
  }
  std::erase_if(world.running_order, [&](BatchId id) { return !world.running.contains(id.value()); });
  world.machines.crash(machine, now);
}

// A machine dies with all it runs; that is noticed later, and it comes back empty.
void crash(WorldState& world, Time now) {
  const std::size_t machine = world.luck.below(world.machines.size());
  const std::uint64_t epoch = world.machines.epoch(machine);
  if (epoch == 0) return;
  take_down(world, machine, now);
  const Time noticed = now + world.options.faults.detection * (0.5 + world.luck.uniform());
  world.schedule(noticed, HappeningKind::lost, (static_cast<std::uint64_t>(machine) << 32) | epoch);
  world.schedule(noticed + world.options.faults.repair * (0.5 + world.luck.uniform()), HappeningKind::back, machine);
}

// A machine gets more or fewer vCPUs, or leaves and comes back as another life without anybody saying that it was lost.
void change_machine(WorldState& world, Time now) {
  const std::size_t machine = world.luck.below(world.machines.size());
  const InvokerId id(static_cast<InvokerId::rep>(machine));
  if (world.machines.epoch(machine) == 0) return;
  if (world.luck.chance(0.5)) {
    world.machines.capacity(machine).vcpu = static_cast<std::uint32_t>(4 + world.luck.below(12));
    return tell(world, InvokerChanged{.id = id, .capacity = world.machines.capacity(machine)}, now);
  }
  tell(world, InvokerDraining{id}, now);
  take_down(world, machine, now);
  world.schedule(now + world.options.faults.repair * (0.5 + world.luck.uniform()), HappeningKind::back, machine);
}

// The machine goes on meanwhile; when its link is there again it says all that it has.
void break_link(WorldState& world, Time now) {
  const std::size_t machine = world.luck.below(world.machines.size());
  if (world.machines.epoch(machine) == 0) return;
  join_again(world, machine, now);
}

void lose_object(WorldState& world, Time now) {
  if (world.next_request == 0) return;
  const std::uint64_t recent = std::min<std::uint64_t>(world.next_request, 50);
  const auto machine = static_cast<InvokerId::rep>(world.luck.below(world.machines.size()));
  const RequestId request(world.next_request - 1 - world.luck.below(recent));
  world.left_at[machine].erase(request);
  tell(world, ObjectLost{.invoker = InvokerId(machine), .request = request}, now);
}

// Somebody has measured a function again.
void change_profile(WorldState& world, Time now) {
  const Deployment& d = world.deployments[world.luck.below(world.deployments.size())];
  const FunctionId function(static_cast<FunctionId::rep>(world.luck.below(d.application->functions.size())));
  auto profile = std::make_shared<Profile>(d.application->function(function).profile);
  if (auto* table = std::get_if<ProfileTable>(profile.get())) {
    for (ProfileRow& row : table->rows) row.mean_ms *= world.luck.uniform(0.5, 2);
  }
  tell(world, ProfileChanged{.application = d.id, .function = function, .profile = std::move(profile)}, now);
}

// Somebody tells what an earlier scheduler had learned, right or wrong.
void tell_branches(WorldState& world, Time now) {
  const Deployment& d = world.deployments[world.luck.below(world.deployments.size())];
  BranchesKnown event{.application = d.id};
  for (const Stage& stage : d.application->workflow.stages) {
    event.shares[stage.name] = world.luck.uniform();
    event.items[stage.name] = static_cast<double>(1 + world.luck.below(9));
  }
  tell(world, event, now);
}

// A new version of an application is about to take over, for a while.
void expect_calls(WorldState& world, Time now) {
  const std::size_t deployment = world.luck.below(world.deployments.size());
  tell(world, CallsExpected{.application = world.deployments[deployment].id}, now);
  world.schedule(now + world.options.faults.repair * (0.5 + world.luck.uniform()), HappeningKind::unexpected,
                 deployment);
}

// Whether every function of the tenant has a configuration within the quota.
bool can_run(const WorldState& world, const QuotaChanged& quota) {
  const auto within = [&](const ProfileRow& row) {
    return row.configuration.vcpu <= quota.vcpu.value_or(row.configuration.vcpu) &&
           row.configuration.slices <= quota.slices.value_or(row.configuration.slices);
  };
  for (const Deployment& d : world.deployments) {
    if (d.application->tenant != quota.tenant) continue;
    for (const Function& function : d.application->functions) {
      const auto* table = std::get_if<ProfileTable>(&function.profile);
      if (table != nullptr && std::none_of(table->rows.begin(), table->rows.end(), within)) return false;
    }
  }
  return true;
}

// More, less or no bound for a tenant. One with which some function of it cannot run at all is lifted after a while.
void change_quota(WorldState& world, Time now) {
  const std::size_t deployment = world.luck.below(world.deployments.size());
  QuotaChanged event{.tenant = world.deployments[deployment].application->tenant, .vcpu = {}, .slices = {}};
  if (world.luck.chance(0.7)) event.vcpu = static_cast<std::uint32_t>(world.luck.below(9));
  if (world.luck.chance(0.7)) event.slices = static_cast<std::uint32_t>(world.luck.below(9));
  tell(world, event, now);
  if (!can_run(world, event))
    world.schedule(now + world.options.faults.repair * (0.5 + world.luck.uniform()), HappeningKind::unbound,
                   deployment);
}

}  // namespace

void strike(WorldState& world, Time now) {
  if (world.strikes(world.options.faults.crash_per_event)) crash(world, now);
  if (world.strikes(world.options.faults.drain_per_event)) change_machine(world, now);
  if (world.strikes(world.options.faults.process_dies)) {
    if (const auto idle = world.machines.idle_one(world.luck.next())) {
      world.machines.unload(idle->first, idle->second, Level::none, now);
      tell(world, InstanceUnloaded{.invoker = idle->first, .instance = idle->second, .level = Level::none}, now);
    }
  }
  if (world.strikes(world.options.faults.object_lost_per_event)) lose_object(world, now);
  if (world.strikes(world.options.faults.profile_changes))
    world.luck.chance(0.8) ? change_profile(world, now) : tell_branches(world, now);
  if (world.strikes(world.options.faults.gap_per_event)) break_link(world, now);
  if (world.strikes(world.options.faults.quota_changes)) change_quota(world, now);
  if (world.strikes(world.options.faults.announced_wrong)) {  // nobody comes
    if (world.luck.chance(0.3)) return expect_calls(world, now);
    const Deployment& d = world.deployments[world.luck.below(world.deployments.size())];
    const Time expected = now + Duration::ms(world.luck.uniform() * 2000);
    tell(world, RequestAnnounced{.application = d.id, .expected = expected}, now);
  }
}

}  // namespace sluice::sim
