#include "sim/acting.h"

#include <algorithm>

#include "base/text.h"
#include "profile/cold_start.h"
#include "profile/transfer.h"
#include "sim/reporting.h"
#include "sim/rules.h"

namespace sluice::sim {
namespace {

Ending ending_of(RequestOutcome outcome, bool rejected, bool met) {
  if (rejected) return Ending::rejected;
  if (outcome == RequestOutcome::cancelled) return Ending::cancelled;
  if (outcome != RequestOutcome::finished) return Ending::failed;
  return met ? Ending::met : Ending::late;
}

// Noise is keyed by the oldest member and its stage, so that all schedulers see the same luck for the same work. Busy
// slices of the same GPU slow it down by their share of what was measured with all of them busy.
Duration execution(const WorldState& world, const StartBatch& command, Time now) {
  const Deployment& deployment = world.deployments[command.application.index()];
  const profile::FunctionProfile& profile = deployment.profiles[command.function.index()];
  Configuration actual = command.configuration;
  actual.batch = static_cast<std::uint16_t>(command.members.size());
  const profile::Latency alone = profile.latency(actual);
  const double ms = profile.beside(actual, world.machines.neighbours(command)).mean_ms;
  if (world.experiment.noise && !world.experiment.noise->is_of(deployment.application->function(command.function).name))
    return Duration::ms(ms);
  const BatchMember& oldest = command.members.front();
  const double sigma =
      world.experiment.noise ? world.experiment.noise->sigma : (alone.mean_ms > 0 ? alone.sd_ms / alone.mean_ms : 0);
  const LuckKey key{world.options.seed, oldest.request.value(), oldest.stage.value()};
  return Duration::ms(ms * luck_of(key, sigma, world.experiment.noise) *
                      drift_of(world.experiment.noise, now - Time::from_ns(0)));
}

// Counted, not clocked: ESG 5 ns an expansion, into which `sluice` converts the work of its tables, Orion 0.5 µs a
// state, every decision at least 10 µs (`native`); `paper` charges what ESG's evaluation reports.
Duration thinking(const WorldState& world, const Work& work) {
  switch (world.experiment.scheduler_time) {
    case SchedulerTime::none:
      return {};
    case SchedulerTime::paper:
      return work.expansions > 0 ? Duration::ms(5) : Duration::us(20.0 * static_cast<double>(work.states));
    case SchedulerTime::native:
      break;
  }
  return Duration::us(
      std::max(10.0, 0.005 * static_cast<double>(work.expansions) + 0.5 * static_cast<double>(work.states)));
}

// What is left of moving its inputs when it begins later than it was sent: they move while others run.
Duration moving(const WorldState& world, const Running& running, Time now) {
  profile::BatchInputs inputs;
  for (const BatchMember& member : running.start.members) {
    if (!member.inputs_at.valid()) continue;  // came with the request
    inputs.add(member.inputs_at == running.start.invoker, member.bytes);
  }
  const Duration all = profile::transfer_time(world.experiment.transfer, inputs);
  return all - std::min(all, std::max(Duration{}, now - running.started));
}

void note_cold(WorldState& world, const StartBatch& command) {
  const Machines::Loaded* loaded = world.machines.find(command.invoker, command.instance);
  if (loaded == nullptr) return;
  const bool waited = std::any_of(command.members.begin(), command.members.end(),
                                  [&](const BatchMember& member) { return member.ready <= loaded->since; });
  if (waited && world.next_request > world.experiment.workload.warmup) ++world.result.cold_batches;
  for (const BatchMember& member : command.members) {
    if (loaded->since < member.ready) continue;
    if (const auto it = world.asked.find(member.request.value()); it != world.asked.end()) it->second.cold = true;
  }
}

// It holds what it takes from now on; `started` is when its inputs begin to move, or later.
void begin(WorldState& world, Running& running, Time now) {
  const StartBatch& command = running.start;
  const std::uint64_t id = command.id.value();
  if (!running.gone) {
    if (std::string wrong = world.machines.begin(command); !wrong.empty()) return world.violate(std::move(wrong));
  }
  running.transfer = moving(world, running, now);
  running.measured = execution(world, command, now);
  if (world.strikes(world.options.faults.slow)) running.measured = running.measured * 10;
  const Duration held = running.transfer + running.measured;
  running.held = world.experiment.billing == Billing::held ? held : running.measured;
  running.started = std::max(running.started, now);
  note_cold(world, command);
  Time told = running.started + held + world.experiment.network_delay;
  const bool up = !running.gone;
  if (running.gone) report(world, running, ActionEnd::lost, now);
  if (up && world.strikes(world.options.faults.expires)) return world.schedule(told - held, HappeningKind::expired, id);
  const bool fails = world.strikes(world.options.faults.batch_fails);
  if (world.strikes(world.options.faults.message_late)) told += Duration::ms(world.luck.uniform() * 200);
  if (world.strikes(world.options.faults.message_lost)) told += Duration::ms(200 + world.luck.uniform() * 400);
  world.schedule(told, fails ? HappeningKind::fail : HappeningKind::finish, id);
  if (world.strikes(world.options.faults.message_twice))
    world.schedule(told + Duration::ms(world.luck.uniform() * 20), HappeningKind::finish, id);
  world.result.vcpu_seconds += held.to_s() * command.configuration.vcpu;
  world.result.slice_seconds += held.to_s() * command.configuration.slices;
}

bool holds_something(const WorldState& world, BatchId id) {
  const auto it = world.running.find(id.value());
  return it != world.running.end() && !it->second.gone;
}

void start(WorldState& world, const StartBatch& command, const Work& work, Time now) {
  ++world.result.batches;
  world.result.members += command.members.size();
  world.result.thinking.add(thinking(world, work));
  world.result.expansions += work.expansions;
  world.result.states += work.states;
  const std::uint64_t id = command.id.value();
  Running& running =
      world.running
          .emplace(id, Running{.start = command,
                               .decided = now,
                               .started = now + thinking(world, work) + world.experiment.network_delay,
                               .gone = world.machines.epoch(command.invoker.index()) == 0})  // it is already dead
          .first->second;
  if (world.options.faults.any()) world.running_order.push_back(command.id);
  std::uint32_t followed = 0;  // vCPUs
  for (const BatchId before : command.after) {
    if (running.gone || !holds_something(world, before)) continue;
    followed += world.running.at(before.value()).start.configuration.vcpu;
    running.after.push_back(before);
    world.followers[before.value()].push_back(command.id);
  }
  if (!running.gone) {
    if (std::string wrong = world.machines.enter(command, followed, world.function_of(command), now); !wrong.empty())
      return world.violate(std::move(wrong));
  }
  if (running.after.empty()) begin(world, running, now);
}

// Loading takes what the function says, with the same relative noise as its execution.
void load(WorldState& world, const LoadInstance& command, Time now) {
  const std::size_t machine = command.invoker.index();
  if (world.machines.epoch(machine) == 0) return;  // nobody there: the scheduler will hear of it
  const Function& function = world.deployments[command.application.index()].application->function(command.function);
  const Machines::Loaded* before = world.machines.find(command.invoker, command.instance);
  const std::uint64_t id = world.next_move++;
  const LuckKey key{world.options.seed, 5000 + command.instance.value(), id};
  const Duration takes =
      profile::load_time(function.cold_start, before == nullptr ? Level::none : before->level, command.level) *
      luck_of(key, world.experiment.noise ? world.experiment.noise->sigma : 0, world.experiment.noise);
  Move move{.invoker = command.invoker,
            .instance = command.instance,
            .becomes = {.application = command.application,
                        .function = command.function,
                        .level = command.level,
                        .gpu = command.gpu,
                        .memory = function.memory.value_or(Bytes{})},
            .epoch = world.machines.epoch(machine),
            .begun = now,
            .fails = world.strikes(world.options.faults.load_fails)};
  world.moves.emplace(id, move);
  world.schedule(now + takes + world.experiment.network_delay * 2, HappeningKind::loaded, id);
}

void evict(WorldState& world, const EvictInstance& command, Time now) {
  const std::size_t machine = command.invoker.index();
  if (world.machines.epoch(machine) == 0) return;
  const Machines::Loaded* before = world.machines.find(command.invoker, command.instance);
  Move move{
      .invoker = command.invoker, .instance = command.instance, .epoch = world.machines.epoch(machine), .begun = now};
  if (before != nullptr) move.becomes = *before;
  move.becomes.level = command.level;
  const std::uint64_t id = world.next_move++;
  world.moves.emplace(id, move);
  world.schedule(now + world.experiment.network_delay * 2, HappeningKind::unloaded, id);
}

void cancel(WorldState& world, const CancelBatch& command, Time now) {
  const auto it = world.running.find(command.id.value());
  if (it == world.running.end() || it->second.gone) return;
  Running& running = it->second;
  running.gone = true;  // what it would have said is not said
  report(world, running, ActionEnd::failed, now);
  if (running.after.empty())
    leave_machine(world, running.start, now);
  else
    world.machines.leave(running.start, world.function_of(running.start), now);
  world.schedule(now + world.experiment.network_delay * 2, HappeningKind::stopped, command.id.value());
}

void answered(WorldState& world, RequestId request, RequestOutcome outcome, std::optional<RejectReason> rejected,
              PicoDollars cost, Time now) {
  const auto it = world.asked.find(request.value());
  if (it == world.asked.end()) return world.violate(str("request ", request.value(), " was answered twice"));
  const Asked asked = it->second;
  world.asked.erase(it);
  const bool met = now <= asked.deadline;
  report(world, request, asked, ending_of(outcome, rejected.has_value(), met), rejected, cost);
  if (request.value() < world.experiment.workload.warmup) return;
  ++world.result.requests;
  ApplicationResult& application = world.result.applications[asked.application];
  ++application.requests;
  world.result.cost += cost.to_dollars();
  world.result.seconds = static_cast<double>(now.count_ns()) / 1e9;
  if (rejected) {
    ++world.result.rejected;
  } else if (outcome == RequestOutcome::cancelled) {
    ++world.result.cancelled;
  } else if (outcome != RequestOutcome::finished) {
    ++world.result.failed;
  } else {
    world.result.latency.add(now - asked.at);
    ++(met ? world.result.met : world.result.late);
    application.met += met ? 1 : 0;
  }
}

}  // namespace

void leave_machine(WorldState& world, const StartBatch& ended, Time now) {
  world.machines.end(ended, world.function_of(ended), now);
  const auto waiting = world.followers.extract(ended.id.value());
  if (waiting.empty()) return;
  for (const BatchId id : waiting.mapped()) {
    const auto it = world.running.find(id.value());
    if (it == world.running.end() || it->second.gone) continue;
    std::erase(it->second.after, ended.id);
    if (it->second.after.empty()) begin(world, it->second, now);
  }
}

void act(WorldState& world, const Command& command, Time now) {
  if (const auto* batch = std::get_if<StartBatch>(&command.action)) {
    start(world, *batch, command.work, now);
  } else if (const auto* reply = std::get_if<Reply>(&command.action)) {
    answered(world, reply->request, reply->outcome, std::nullopt, reply->cost, now);
  } else if (const auto* reject = std::get_if<Reject>(&command.action)) {
    answered(world, reject->request, RequestOutcome::failed, reject->reason, {}, now);
  } else if (const auto* load_command = std::get_if<LoadInstance>(&command.action)) {
    load(world, *load_command, now);
  } else if (const auto* evict_command = std::get_if<EvictInstance>(&command.action)) {
    evict(world, *evict_command, now);
  } else if (const auto* cancel_command = std::get_if<CancelBatch>(&command.action)) {
    cancel(world, *cancel_command, now);
  } else if (const auto* release = std::get_if<ReleaseObjects>(&command.action)) {
    world.left_at[release->invoker.index()].erase(release->request);
  } else if (const auto* wanted = std::get_if<MakePlans>(&command.action)) {
    world.plans_wanted.push_back(*wanted);
  } else if (const auto* accept = std::get_if<Accept>(&command.action)) {
    const auto it = world.asked.find(accept->request.value());
    if (it == world.asked.end() || it->second.accepted)
      return world.violate(str("request ", accept->request.value(), " was accepted twice"));
    it->second.accepted = true;
  }
}

}  // namespace sluice::sim
