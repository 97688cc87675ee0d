#include "sim/happening.h"

#include <utility>

#include "sim/acting.h"
#include "sim/joining.h"
#include "sim/reporting.h"
#include "sim/telling.h"

namespace sluice::sim {
namespace {

// Conditions hold half of the time, fan-outs have one to four items; keyed, so that every scheduler sees the same.
template <class Facts>
void decide_branches(const Workflow& workflow, std::uint64_t seed, std::uint64_t key, const RunPath& path,
                     Facts& facts) {
  for (std::uint32_t s = 0; s < workflow.size(); ++s) {
    if (!workflow.stages[s].when && !workflow.stages[s].foreach) continue;
    Rng draw = Rng::keyed(seed, key, 1000 + s);
    if (workflow.stages[s].when) facts.verdicts.push_back({StageId(s), draw.chance(0.5), path});
    if (workflow.stages[s].foreach)
      facts.fan_outs.push_back({StageId(s), static_cast<std::uint32_t>(1 + draw.below(4)), path});
  }
}

// A caller with an objective, a priority or a limit of cost of its own.
void bring_own_terms(WorldState& world, RequestArrived& event, Time now) {
  event.deadline = now + (event.deadline - now) * world.luck.uniform(0.2, 5);
  event.priority = static_cast<std::uint8_t>(world.luck.below(3));
  if (world.luck.chance(0.3)) event.cost_limit = PicoDollars::from_dollars(world.luck.uniform(1e-6, 1e-3));
}

void arrive(WorldState& world, Time now) {
  const workload::Arrival arrival = *world.next_arrival;
  const RequestId id(world.next_request++);
  const Deployment& deployment = world.deployments[arrival.application];
  if (id.value() == world.experiment.workload.warmup) world.machines.forget_idle(now);
  RequestArrived event{
      .id = id, .application = deployment.id, .tenant = deployment.tenant, .deadline = now + deployment.objective};
  if (deployment.application->objective.cost)
    event.cost_limit = PicoDollars::from_dollars(*deployment.application->objective.cost);
  if (world.strikes(world.options.faults.own_terms)) bring_own_terms(world, event, now);
  world.asked.emplace(id.value(), Asked{now, event.deadline, arrival.application});
  decide_branches(deployment.application->workflow, world.options.seed, id.value(), {}, event);
  tell(world, event, now);
  schedule_arrival(world);
  world.healed = !world.next_arrival.has_value();
  if (world.strikes(world.options.faults.cancel)) {
    world.schedule(now + Duration::ms(world.luck.uniform() * 500), HappeningKind::cancel, id.value());
  }
}

void finish(WorldState& world, Time now, std::uint64_t batch, bool fails) {
  const auto it = world.running.find(batch);
  if (it == world.running.end()) {
    return tell(world, BatchFailed{.id = BatchId(batch), .error = "Duplicate"}, now);  // a second message about it
  }
  Running running = std::move(it->second);
  world.running.erase(it);
  if (running.gone) return;
  leave_machine(world, running.start, now);
  report(world, running, fails ? ActionEnd::failed : ActionEnd::succeeded, now);
  if (fails) return tell(world, BatchFailed{.id = BatchId(batch), .error = "WorkerCrashed"}, now);
  BatchFinished event{.id = BatchId(batch), .measured = running.measured, .held = running.held};
  const Deployment& deployment = world.deployments[running.start.application.index()];
  for (const BatchMember& member : running.start.members) {
    InvocationResult result{.id = member.invocation};
    if (world.strikes(world.options.faults.invocation_fails)) {
      result.outcome = Outcome::failed;
      result.error = "FunctionError";
    } else if (world.strikes(world.options.faults.inputs_missing)) {
      result.outcome = Outcome::not_run;
      result.error = "InputsMissing";
    } else if (!member.path.empty()) {  // inside a foreach conditions are known when the first stages have run
      decide_branches(workflow_of(*deployment.application, member.path), world.options.seed, member.run, member.path,
                      result);
    }
    if (world.options.faults.any() && result.outcome == Outcome::succeeded)
      world.left_at[running.start.invoker.index()].insert(member.request);
    event.results.push_back(std::move(result));
  }
  tell(world, event, now);
}

// The machine had no time for it: nothing of it ran.
void expire(WorldState& world, Time now, std::uint64_t batch) {
  const auto it = world.running.find(batch);
  if (it == world.running.end()) return;
  const Running running = std::move(it->second);
  world.running.erase(it);
  if (running.gone) return;
  leave_machine(world, running.start, now);
  report(world, running, ActionEnd::failed, now);
  tell(world, BatchExpired{.id = BatchId(batch)}, now);
}

void moved(WorldState& world, Time now, std::uint64_t move, bool up) {
  const auto it = world.moves.find(move);
  const Move made = it->second;
  world.moves.erase(it);
  const std::size_t machine = made.invoker.index();
  if (world.machines.epoch(machine) != made.epoch) return;  // died meanwhile
  report(world, made, up ? ActionKind::load : ActionKind::evict, made.fails ? ActionEnd::failed : ActionEnd::succeeded,
         now);
  if (made.fails)
    return tell(world, LoadFailed{.invoker = made.invoker, .instance = made.instance, .error = "LoadFailed"}, now);
  const Level level = made.becomes.level;
  if (!up) {
    world.machines.unload(made.invoker, made.instance, level, now);
    return tell(world, InstanceUnloaded{.invoker = made.invoker, .instance = made.instance, .level = level}, now);
  }
  Machines::Loaded loaded = made.becomes;
  loaded.since = now;
  world.machines.set(made.invoker, made.instance, loaded, now);
  if (world.next_request > world.experiment.workload.warmup) ++world.result.cold_starts;
  tell(world,
       InstanceLoaded{.invoker = made.invoker, .instance = made.instance, .level = level, .measured = now - made.begun},
       now);
}

}  // namespace

void happen(WorldState& world, const Happening& happening) {
  const Time now = happening.at;
  switch (happening.kind) {
    case HappeningKind::arrival:
      return arrive(world, now);
    case HappeningKind::finish:
      return finish(world, now, happening.subject, false);
    case HappeningKind::fail:
      return finish(world, now, happening.subject, true);
    case HappeningKind::expired:
      return expire(world, now, happening.subject);
    case HappeningKind::lost:
      return tell(world,
                  InvokerLost{.id = InvokerId(static_cast<InvokerId::rep>(happening.subject >> 32)),
                              .epoch = happening.subject & 0xFFFFFFFFu,
                              .session = world.sessions[happening.subject >> 32]},
                  now);
    case HappeningKind::back:
      if (world.machines.epoch(happening.subject) == 0) join(world, happening.subject, now);
      return;
    case HappeningKind::stopped:
      return tell(world, BatchFailed{.id = BatchId(happening.subject), .error = "Cancelled"}, now);
    case HappeningKind::cancel:
      return tell(world, RequestCancelled{RequestId(happening.subject)}, now);
    case HappeningKind::loaded:
      return moved(world, now, happening.subject, true);
    case HappeningKind::unloaded:
      return moved(world, now, happening.subject, false);
    case HappeningKind::unexpected:
      return tell(world, CallsExpected{.application = world.deployments[happening.subject].id, .expected = false}, now);
    case HappeningKind::unbound:
      return tell(
          world,
          QuotaChanged{.tenant = world.deployments[happening.subject].application->tenant, .vcpu = {}, .slices = {}},
          now);
  }
}

void schedule_arrival(WorldState& world) {
  world.next_arrival = world.stream.next();
  if (!world.next_arrival) return;
  const Time at = kStart + world.next_arrival->at;
  world.schedule(at, HappeningKind::arrival, 0);
  if (world.strikes(world.options.faults.announced))
    tell(world, RequestAnnounced{.application = world.deployments[world.next_arrival->application].id, .expected = at},
         world.now);
}

}  // namespace sluice::sim
