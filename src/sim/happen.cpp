// What happens to a world: requests come, batches end, machines die and come back.
#include <algorithm>

#include "sim/world.h"

namespace sluice::sim {

void World::happen(const Happening& happening) {
  const Time now = happening.at;
  switch (happening.kind) {
    case Kind::arrival:
      return arrive(now);
    case Kind::finish:
      return finish(now, happening.subject, false);
    case Kind::fail:
      return finish(now, happening.subject, true);
    case Kind::expired:
      return expire(now, happening.subject);
    case Kind::lost:
      return tell(InvokerLost{.id = InvokerId(static_cast<InvokerId::rep>(happening.subject >> 32)),
                              .epoch = happening.subject & 0xFFFFFFFFu,
                              .session = sessions_[happening.subject >> 32]},
                  now);
    case Kind::back:
      if (machines_.epoch(happening.subject) == 0) join(happening.subject, now);
      return;
    case Kind::stopped:
      return tell(BatchFailed{.id = BatchId(happening.subject), .error = "Cancelled"}, now);
    case Kind::cancel:
      return tell(RequestCancelled{RequestId(happening.subject)}, now);
    case Kind::loaded:
      return moved(now, happening.subject, true);
    case Kind::unloaded:
      return moved(now, happening.subject, false);
    case Kind::unbound:
      return tell(QuotaChanged{.tenant = deployments_[happening.subject].application->tenant, .vcpu = {}, .slices = {}},
                  now);
  }
}

namespace {

// Conditions hold half of the time, fan-outs have one to four items; keyed, so that every scheduler sees the same.
template <class Told>
void decide_branches(const Workflow& workflow, std::uint64_t seed, std::uint64_t key, const RunPath& path, Told& told) {
  for (std::uint32_t s = 0; s < workflow.size(); ++s) {
    if (!workflow.stages[s].when && !workflow.stages[s].foreach) continue;
    Rng draw = Rng::keyed(seed, key, 1000 + s);
    if (workflow.stages[s].when) told.verdicts.push_back({StageId(s), draw.chance(0.5), path});
    if (workflow.stages[s].foreach)
      told.fan_outs.push_back({StageId(s), static_cast<std::uint32_t>(1 + draw.below(4)), path});
  }
}

}  // namespace

void World::arrive(Time now) {
  const workload::Arrival arrival = *next_arrival_;
  const RequestId id(next_request_++);
  const Deployment& deployment = deployments_[arrival.application];
  if (id.value() == experiment_.workload.warmup) machines_.forget_idle(now);
  RequestArrived event{
      .id = id, .application = deployment.id, .tenant = deployment.tenant, .deadline = now + deployment.objective};
  if (deployment.application->objective.cost)
    event.cost_limit = PicoDollars::from_dollars(*deployment.application->objective.cost);
  if (strikes(options_.faults.own_terms)) bring_own_terms(event, now);
  asked_.emplace(id.value(), Asked{now, event.deadline, arrival.application});
  decide_branches(deployment.application->workflow, options_.seed, id.value(), {}, event);
  tell(event, now);
  schedule_arrival();
  healed_ = !next_arrival_.has_value();
  if (strikes(options_.faults.cancel)) {
    schedule(now + Duration::ms(luck_.uniform() * 500), Kind::cancel, id.value());
  }
}

// A caller with an objective, a priority or a limit of cost of its own.
void World::bring_own_terms(RequestArrived& event, Time now) {
  event.deadline = now + (event.deadline - now) * luck_.uniform(0.2, 5);
  event.priority = static_cast<std::uint8_t>(luck_.below(3));
  if (luck_.chance(0.3)) event.cost_limit = PicoDollars::from_dollars(luck_.uniform(1e-6, 1e-3));
}

void World::finish(Time now, std::uint64_t batch, bool fails) {
  const auto it = running_.find(batch);
  if (it == running_.end()) {
    return tell(BatchFailed{.id = BatchId(batch), .error = "Duplicate"}, now);  // a second message about it
  }
  Running running = std::move(it->second);
  running_.erase(it);
  if (running.gone) return;
  machines_.end(running.start, function_of(running.start), now);
  report(running, fails ? ActionEnd::failed : ActionEnd::succeeded, now);
  if (fails) return tell(BatchFailed{.id = BatchId(batch), .error = "WorkerCrashed"}, now);
  BatchFinished event{.id = BatchId(batch), .measured = running.measured, .held = running.held};
  const Deployment& deployment = deployments_[running.start.application.index()];
  for (const BatchMember& member : running.start.members) {
    InvocationResult result{.id = member.invocation};
    if (strikes(options_.faults.invocation_fails)) {
      result.outcome = Outcome::failed;
      result.error = "FunctionError";
    } else if (strikes(options_.faults.inputs_missing)) {
      result.outcome = Outcome::not_run;
      result.error = "InputsMissing";
    } else if (!member.path.empty()) {  // inside a foreach conditions are known when the first stages have run
      decide_branches(workflow_of(*deployment.application, member.path), options_.seed, member.run, member.path,
                      result);
    }
    if (options_.faults.any() && result.outcome == Outcome::succeeded)
      left_at_[running.start.invoker.index()].insert(member.request);
    event.results.push_back(std::move(result));
  }
  tell(event, now);
}

// The machine had no time for it: nothing of it ran.
void World::expire(Time now, std::uint64_t batch) {
  const auto it = running_.find(batch);
  if (it == running_.end()) return;
  const Running running = std::move(it->second);
  running_.erase(it);
  if (running.gone) return;
  machines_.end(running.start, function_of(running.start), now);
  report(running, ActionEnd::failed, now);
  tell(BatchExpired{.id = BatchId(batch)}, now);
}

void World::moved(Time now, std::uint64_t move, bool up) {
  const auto it = moves_.find(move);
  const Move made = it->second;
  moves_.erase(it);
  const std::size_t machine = made.invoker.index();
  if (machines_.epoch(machine) != made.epoch) return;  // died meanwhile
  report(made, up ? ActionKind::load : ActionKind::evict, made.fails ? ActionEnd::failed : ActionEnd::succeeded, now);
  if (made.fails)
    return tell(LoadFailed{.invoker = made.invoker, .instance = made.instance, .error = "LoadFailed"}, now);
  const Level level = made.becomes.level;
  if (!up) {
    machines_.unload(made.invoker, made.instance, level, now);
    return tell(InstanceUnloaded{.invoker = made.invoker, .instance = made.instance, .level = level}, now);
  }
  Machines::Loaded loaded = made.becomes;
  loaded.since = now;
  machines_.set(made.invoker, made.instance, loaded, now);
  if (next_request_ > experiment_.workload.warmup) ++result_.cold_starts;
  tell(InstanceLoaded{.invoker = made.invoker, .instance = made.instance, .level = level, .measured = now - made.begun},
       now);
}

// Bad luck after a decision.
void World::strike(Time now) {
  if (strikes(options_.faults.crash_per_event)) crash(now);
  if (strikes(options_.faults.drain_per_event)) change_machine(now);
  if (strikes(options_.faults.process_dies)) {
    if (const auto idle = machines_.idle_one(luck_.next())) {
      machines_.unload(idle->first, idle->second, Level::none, now);
      tell(InstanceUnloaded{.invoker = idle->first, .instance = idle->second, .level = Level::none}, now);
    }
  }
  if (strikes(options_.faults.object_lost_per_event)) lose_object(now);
  if (strikes(options_.faults.profile_changes)) change_profile(now);
  if (strikes(options_.faults.gap_per_event)) break_link(now);
  if (strikes(options_.faults.quota_changes)) change_quota(now);
  if (strikes(options_.faults.announced_wrong)) {  // nobody comes
    const Deployment& d = deployments_[luck_.below(deployments_.size())];
    const Time expected = now + Duration::ms(luck_.uniform() * 2000);
    tell(RequestAnnounced{.application = d.id, .expected = expected}, now);
  }
}

void World::take_down(std::size_t machine, Time now) {
  for (const BatchId id : running_order_) {
    const auto it = running_.find(id.value());
    if (it == running_.end() || it->second.gone || it->second.start.invoker.index() != machine) continue;
    it->second.gone = true;
    report(it->second, ActionEnd::lost, now);
  }
  std::erase_if(running_order_, [&](BatchId id) { return !running_.contains(id.value()); });
  machines_.crash(machine, now);
}

// A machine dies with all it runs; that is noticed later, and it comes back empty.
void World::crash(Time now) {
  const std::size_t machine = luck_.below(machines_.size());
  const std::uint64_t epoch = machines_.epoch(machine);
  if (epoch == 0) return;
  take_down(machine, now);
  const Time noticed = now + options_.faults.detection * (0.5 + luck_.uniform());
  schedule(noticed, Kind::lost, (static_cast<std::uint64_t>(machine) << 32) | epoch);
  schedule(noticed + options_.faults.repair * (0.5 + luck_.uniform()), Kind::back, machine);
}

// A machine gets more or fewer vCPUs, or leaves and comes back as another life without anybody saying that it was lost.
void World::change_machine(Time now) {
  const std::size_t machine = luck_.below(machines_.size());
  const InvokerId id(static_cast<InvokerId::rep>(machine));
  if (machines_.epoch(machine) == 0) return;
  if (luck_.chance(0.5)) {
    machines_.capacity(machine).vcpu = static_cast<std::uint32_t>(4 + luck_.below(12));
    return tell(InvokerChanged{.id = id, .capacity = machines_.capacity(machine)}, now);
  }
  tell(InvokerDraining{id}, now);
  take_down(machine, now);
  schedule(now + options_.faults.repair * (0.5 + luck_.uniform()), Kind::back, machine);
}

// The machine goes on meanwhile; when its link is there again it says all that it has.
void World::break_link(Time now) {
  const std::size_t machine = luck_.below(machines_.size());
  if (machines_.epoch(machine) == 0) return;
  ++sessions_[machine];
  tell(joined(machine), now);
}

void World::lose_object(Time now) {
  if (next_request_ == 0) return;
  const std::uint64_t recent = std::min<std::uint64_t>(next_request_, 50);
  const auto machine = static_cast<InvokerId::rep>(luck_.below(machines_.size()));
  const RequestId request(next_request_ - 1 - luck_.below(recent));
  left_at_[machine].erase(request);
  tell(ObjectLost{.invoker = InvokerId(machine), .request = request}, now);
}

// Somebody has measured a function again.
void World::change_profile(Time now) {
  const Deployment& d = deployments_[luck_.below(deployments_.size())];
  const FunctionId function(static_cast<FunctionId::rep>(luck_.below(d.application->functions.size())));
  auto profile = std::make_shared<Profile>(d.application->function(function).profile);
  if (auto* table = std::get_if<ProfileTable>(profile.get())) {
    for (ProfileRow& row : table->rows) row.mean_ms *= luck_.uniform(0.5, 2);
  }
  tell(ProfileChanged{.application = d.id, .function = function, .profile = std::move(profile)}, now);
}

// Whether every function of the tenant has a configuration within the quota.
bool World::can_run(const QuotaChanged& quota) const {
  const auto within = [&](const ProfileRow& row) {
    return row.configuration.vcpu <= quota.vcpu.value_or(row.configuration.vcpu) &&
           row.configuration.slices <= quota.slices.value_or(row.configuration.slices);
  };
  for (const Deployment& d : deployments_) {
    if (d.application->tenant != quota.tenant) continue;
    for (const Function& function : d.application->functions) {
      const auto* table = std::get_if<ProfileTable>(&function.profile);
      if (table != nullptr && std::none_of(table->rows.begin(), table->rows.end(), within)) return false;
    }
  }
  return true;
}

// More, less or no bound for a tenant. One with which some function of it cannot run at all is lifted after a while.
void World::change_quota(Time now) {
  const std::size_t deployment = luck_.below(deployments_.size());
  QuotaChanged event{.tenant = deployments_[deployment].application->tenant, .vcpu = {}, .slices = {}};
  if (luck_.chance(0.7)) event.vcpu = static_cast<std::uint32_t>(luck_.below(9));
  if (luck_.chance(0.7)) event.slices = static_cast<std::uint32_t>(luck_.below(9));
  tell(event, now);
  if (!can_run(event)) schedule(now + options_.faults.repair * (0.5 + luck_.uniform()), Kind::unbound, deployment);
}

}  // namespace sluice::sim
