// What the scheduler's commands do in a simulated world.
#include <algorithm>

#include "base/text.h"
#include "profile/cold_start.h"
#include "profile/transfer.h"
#include "sim/rules.h"
#include "sim/world.h"

namespace sluice::sim {
namespace {

Ending ending_of(RequestOutcome outcome, bool rejected, bool met) {
  if (rejected) return Ending::rejected;
  if (outcome == RequestOutcome::cancelled) return Ending::cancelled;
  if (outcome != RequestOutcome::finished) return Ending::failed;
  return met ? Ending::met : Ending::late;
}

}  // namespace

void World::act(const Command& command, Time now) {
  if (const auto* batch = std::get_if<StartBatch>(&command.action)) {
    start(*batch, command.work, now);
  } else if (const auto* reply = std::get_if<Reply>(&command.action)) {
    answered(reply->request, reply->outcome, std::nullopt, reply->cost, now);
  } else if (const auto* reject = std::get_if<Reject>(&command.action)) {
    answered(reject->request, RequestOutcome::failed, reject->reason, {}, now);
  } else if (const auto* load_command = std::get_if<LoadInstance>(&command.action)) {
    load(*load_command, now);
  } else if (const auto* evict_command = std::get_if<EvictInstance>(&command.action)) {
    evict(*evict_command, now);
  } else if (const auto* cancel_command = std::get_if<CancelBatch>(&command.action)) {
    cancel(*cancel_command, now);
  } else if (const auto* release = std::get_if<ReleaseObjects>(&command.action)) {
    left_at_[release->invoker.index()].erase(release->request);
  } else if (const auto* accept = std::get_if<Accept>(&command.action)) {
    const auto it = asked_.find(accept->request.value());
    if (it == asked_.end() || it->second.accepted)
      return violate(str("request ", accept->request.value(), " was accepted twice"));
    it->second.accepted = true;
  }
}

// What the profile says of a batch that is as full as it is.
profile::Latency World::believed(const StartBatch& command) const {
  Configuration actual = command.configuration;
  actual.batch = static_cast<std::uint16_t>(command.members.size());
  return deployments_[command.application.index()].profiles[command.function.index()].latency(actual);
}

// Noise is keyed by the oldest member and its stage, so that all schedulers see the same luck for the same work. Busy
// slices of the same GPU slow it down by their share of what was measured with all of them busy.
Duration World::execution(const StartBatch& command, Time now) const {
  const Deployment& deployment = deployments_[command.application.index()];
  const profile::FunctionProfile& profile = deployment.profiles[command.function.index()];
  Configuration actual = command.configuration;
  actual.batch = static_cast<std::uint16_t>(command.members.size());
  const profile::Latency alone = profile.latency(actual);
  double ms = alone.mean_ms;
  if (const double neighbours = machines_.neighbours(command); neighbours > 0) {
    ms += neighbours * (profile.latency(actual, true).mean_ms - alone.mean_ms);
  }
  const BatchMember& oldest = command.members.front();
  const double sigma =
      experiment_.noise ? experiment_.noise->sigma : (alone.mean_ms > 0 ? alone.sd_ms / alone.mean_ms : 0);
  const LuckKey key{options_.seed, oldest.request.value(), oldest.stage.value()};
  return Duration::ms(ms * luck_of(key, sigma, experiment_.noise) *
                      drift_of(experiment_.noise, now - Time::from_ns(0)));
}

// Counted, not clocked: ESG 5 ns an expansion, into which `sluice` converts the work of its tables, Orion 0.5 µs a
// state, every decision at least 10 µs (`native`); `paper` charges what ESG's evaluation reports.
Duration World::thinking(const Work& work) const {
  switch (experiment_.scheduler_time) {
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

void World::start(const StartBatch& command, const Work& work, Time now) {
  const std::size_t machine = command.invoker.index();
  const bool up = machines_.epoch(machine) != 0;
  if (up) {
    if (std::string wrong = machines_.start(command, function_of(command), now); !wrong.empty()) {
      return violate(std::move(wrong));
    }
  }
  ++result_.batches;
  result_.members += command.members.size();
  result_.thinking.add(thinking(work));
  result_.expansions += work.expansions;
  result_.states += work.states;
  profile::BatchInputs inputs;
  for (const BatchMember& member : command.members) {
    if (!member.inputs_at.valid()) continue;  // came with the request
    inputs.add(member.inputs_at == command.invoker, member.bytes);
  }
  const Duration transfer = profile::transfer_time(experiment_.transfer, inputs);
  Duration run = execution(command, now);
  if (strikes(options_.faults.slow)) run = run * 10;
  const Duration held = transfer + run;
  Running running{.start = command,
                  .decided = now,
                  .started = now + thinking(work) + experiment_.network_delay,
                  .held = experiment_.billing == Billing::held ? held : run,
                  .transfer = transfer,
                  .measured = run,
                  .gone = !up};  // sent to a machine that is already dead
  if (const Machines::Loaded* loaded = machines_.find(command.invoker, command.instance); loaded != nullptr) {
    const bool waited = std::any_of(command.members.begin(), command.members.end(),
                                    [&](const BatchMember& member) { return member.ready <= loaded->since; });
    if (waited && next_request_ > experiment_.workload.warmup) ++result_.cold_batches;
    for (const BatchMember& member : command.members) {
      if (loaded->since < member.ready) continue;
      if (const auto it = asked_.find(member.request.value()); it != asked_.end()) it->second.cold = true;
    }
  }
  const std::uint64_t id = command.id.value();
  Time told = running.started + held + experiment_.network_delay;
  if (running.gone) report(running, ActionEnd::lost, now);
  running_.emplace(id, std::move(running));
  if (options_.faults.any()) running_order_.push_back(command.id);
  if (up && strikes(options_.faults.expires)) return schedule(told - held, Kind::expired, id);
  const bool fails = strikes(options_.faults.batch_fails);
  if (strikes(options_.faults.message_late)) told += Duration::ms(luck_.uniform() * 200);
  if (strikes(options_.faults.message_lost)) told += Duration::ms(200 + luck_.uniform() * 400);
  schedule(told, fails ? Kind::fail : Kind::finish, id);
  if (strikes(options_.faults.message_twice)) schedule(told + Duration::ms(luck_.uniform() * 20), Kind::finish, id);
  result_.vcpu_seconds += held.to_s() * command.configuration.vcpu;
  result_.slice_seconds += held.to_s() * command.configuration.slices;
}

// Loading takes what the function says, with the same relative noise as its execution.
void World::load(const LoadInstance& command, Time now) {
  const std::size_t machine = command.invoker.index();
  if (machines_.epoch(machine) == 0) return;  // nobody there: the scheduler will hear of it
  const Function& function = deployments_[command.application.index()].application->function(command.function);
  const Machines::Loaded* before = machines_.find(command.invoker, command.instance);
  const std::uint64_t id = next_move_++;
  const LuckKey key{options_.seed, 5000 + command.instance.value(), id};
  const Duration takes =
      profile::load_time(function.cold_start, before == nullptr ? Level::none : before->level, command.level) *
      luck_of(key, experiment_.noise ? experiment_.noise->sigma : 0, experiment_.noise);
  Move move{.invoker = command.invoker,
            .instance = command.instance,
            .becomes = {.application = command.application,
                        .function = command.function,
                        .level = command.level,
                        .gpu = command.gpu,
                        .memory = function.memory.value_or(Bytes{})},
            .epoch = machines_.epoch(machine),
            .begun = now,
            .fails = strikes(options_.faults.load_fails)};
  moves_.emplace(id, move);
  schedule(now + takes + experiment_.network_delay * 2, Kind::loaded, id);
}

void World::evict(const EvictInstance& command, Time now) {
  const std::size_t machine = command.invoker.index();
  if (machines_.epoch(machine) == 0) return;
  const Machines::Loaded* before = machines_.find(command.invoker, command.instance);
  Move move{.invoker = command.invoker, .instance = command.instance, .epoch = machines_.epoch(machine), .begun = now};
  if (before != nullptr) move.becomes = *before;
  move.becomes.level = command.level;
  const std::uint64_t id = next_move_++;
  moves_.emplace(id, move);
  schedule(now + experiment_.network_delay * 2, Kind::unloaded, id);
}

void World::cancel(const CancelBatch& command, Time now) {
  const auto it = running_.find(command.id.value());
  if (it == running_.end() || it->second.gone) return;
  machines_.end(it->second.start, function_of(it->second.start), now);
  report(it->second, ActionEnd::failed, now);
  it->second.gone = true;  // what it would have said is not said
  schedule(now + experiment_.network_delay * 2, Kind::stopped, command.id.value());
}

void World::answered(RequestId request, RequestOutcome outcome, std::optional<RejectReason> rejected, PicoDollars cost,
                     Time now) {
  const auto it = asked_.find(request.value());
  if (it == asked_.end()) return violate(str("request ", request.value(), " was answered twice"));
  const Asked asked = it->second;
  asked_.erase(it);
  const bool met = now <= asked.deadline;
  report(request, asked, ending_of(outcome, rejected.has_value(), met), rejected, cost);
  if (request.value() < experiment_.workload.warmup) return;
  ++result_.requests;
  ApplicationResult& application = result_.applications[asked.application];
  ++application.requests;
  result_.cost += cost.to_dollars();
  result_.seconds = static_cast<double>(now.count_ns()) / 1e9;
  if (rejected) {
    ++result_.rejected;
  } else if (outcome == RequestOutcome::cancelled) {
    ++result_.cancelled;
  } else if (outcome != RequestOutcome::finished) {
    ++result_.failed;
  } else {
    result_.latency.add(now - asked.at);
    ++(met ? result_.met : result_.late);
    application.met += met ? 1 : 0;
  }
}

}  // namespace sluice::sim
