#include "sim/world.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/text.h"
#include "policy/catalog.h"
#include "profile/transfer.h"

namespace sluice::sim {
namespace {

constexpr Time kStart = Time::from_ns(0);
constexpr std::size_t kLastEvents = 20;

// The time of a request alone with the least configuration everywhere: what `slo_scale` multiplies.
Duration minimum_time(const plan::WorkflowModel& model) {
  std::vector<plan::StageTerms> terms;
  for (const plan::ModelStage& stage : model.stages) {
    terms.push_back({plan::least(stage.candidates).ms * stage.scale.ms + stage.wait_ms, 0});
  }
  return Duration::ms(plan::evaluate(model.tree, terms).ms);
}

bool fits_somewhere(const plan::ModelStage& stage, const std::vector<NodeGroup>& machines) {
  if (!stage.function.valid()) return true;
  return std::any_of(stage.candidates.begin(), stage.candidates.end(), [&](const plan::Candidate& c) {
    return std::any_of(machines.begin(), machines.end(), [&](const NodeGroup& m) {
      return m.vcpu >= c.configuration.vcpu &&
             (c.configuration.slices == 0 || (m.gpus > 0 && m.slices_per_gpu >= c.configuration.slices));
    });
  });
}

Ending ending_of(RequestOutcome outcome, bool rejected, bool met) {
  if (rejected) return Ending::rejected;
  if (outcome == RequestOutcome::cancelled) return Ending::cancelled;
  if (outcome != RequestOutcome::finished) return Ending::failed;
  return met ? Ending::met : Ending::late;
}

}  // namespace

World::World(const Experiment& experiment, WorldOptions options, workload::ArrivalStream stream)
    : experiment_(experiment),
      options_(std::move(options)),
      stream_(std::move(stream)),
      luck_(Rng::keyed(options_.seed, 77)) {
  for (const NodeGroup& group : experiment.cluster.nodes) {
    NodeGroup one = group;
    one.count = 1;
    if (one.slices_per_gpu == 0) one.slices_per_gpu = 7;  // `auto` without a machine to ask
    machines_.insert(machines_.end(), group.count, one);
  }
  for (const NodeGroup& machine : machines_) {
    vcpus_ += machine.vcpu;
    slices_ += std::uint64_t{machine.gpus} * machine.slices_per_gpu;
  }
  epochs_.resize(machines_.size());
  result_.scheduler = options_.scheduler;
  result_.seed = options_.seed;
}

Result<std::unique_ptr<World>> World::make(const Experiment& experiment, WorldOptions options,
                                           std::string_view trace_text) {
  if (experiment.instances == Instances::counted) {
    return Error{ErrorCode::unavailable, "instances: 'counted' is not simulated yet; write `instances: warm`"};
  }
  std::vector<std::string> names;
  for (const Application& application : experiment.applications) names.push_back(application.name);
  auto stream = workload::ArrivalStream::make(experiment.workload, names, options.seed, trace_text);
  if (!stream) return stream.error();
  const auto parameters = experiment.parameters.find(options.scheduler);
  auto policies = policy::make_scheduler(
      options.scheduler, parameters == experiment.parameters.end() ? policy::Parameters{} : parameters->second);
  if (!policies) return policies.error();
  std::unique_ptr<World> world(new World(experiment, std::move(options), std::move(stream).value()));
  if (const Status status = world->deploy(); !status) return status.error();
  return world;
}

Status World::deploy() {
  for (std::size_t i = 0; i < experiment_.applications.size(); ++i) {
    auto application = std::make_shared<Application>(experiment_.applications[i]);
    if (experiment_.prices) application->prices = *experiment_.prices;
    auto profiles = plan::make_profiles(*application);
    if (!profiles)
      return Error{profiles.error().code, str("application '", application->name, "': ", profiles.error().message)};
    const auto model = plan::make_model(*application, *profiles);
    if (!model) return Error{model.error().code, str("application '", application->name, "': ", model.error().message)};
    for (const plan::ModelStage& stage : model->stages) {
      if (!fits_somewhere(stage, machines_))
        return Error{ErrorCode::invalid, str("application '", application->name,
                                             "': no machine of the cluster fits stage '", stage.name, "'")};
    }
    const Duration objective =
        experiment_.slo_scale ? minimum_time(*model) * *experiment_.slo_scale : application->objective.latency;
    result_.applications.push_back({.application = application->name});
    deployments_.push_back({ApplicationId(static_cast<ApplicationId::rep>(i)), std::move(application),
                            std::move(profiles).value(), objective});
    for (const plan::ModelStage& stage : model->stages) deployments_.back().stages.push_back(stage.name);
  }
  scheduler_ = fresh_scheduler();
  return Done{};
}

std::unique_ptr<core::Scheduler> World::fresh_scheduler() const {
  const auto parameters = experiment_.parameters.find(options_.scheduler);
  auto policies = policy::make_scheduler(
      options_.scheduler, parameters == experiment_.parameters.end() ? policy::Parameters{} : parameters->second);
  CHECK(policies.ok());
  auto scheduler = std::make_unique<core::Scheduler>(std::move(policies).value());
  for (const Deployment& d : deployments_) scheduler->observe(ApplicationDeployed{d.id, d.application}, kStart);
  return scheduler;
}

void World::schedule(Time at, Kind kind, std::uint64_t subject) {
  heap_.push({at, next_order_++, kind, subject});
}

void World::schedule_arrival() {
  next_arrival_ = stream_.next();
  if (next_arrival_) schedule(kStart + next_arrival_->at, Kind::arrival, 0);
}

void World::join_invokers() {
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    epochs_[i] = next_epoch_++;
    tell(InvokerJoined{.id = InvokerId(static_cast<InvokerId::rep>(i)), .epoch = epochs_[i], .capacity = machines_[i]},
         kStart);
  }
}

RunResult World::run() {
  join_invokers();
  schedule_arrival();
  constexpr std::uint64_t kProgressEvery = 1 << 14;
  for (std::uint64_t steps = 0;; ++steps) {
    const auto wake = scheduler_->next_wake();
    if (heap_.empty() && !wake) break;
    if (heap_.empty() || (wake && *wake < heap_.top().at)) {
      now_ = std::max(now_, *wake);
    } else {
      now_ = heap_.top().at;
      while (!heap_.empty() && heap_.top().at == now_) {  // everything of one instant, then one decision
        const Happening happening = heap_.top();
        heap_.pop();
        happen(happening);
      }
    }
    decide(now_);
    if (result_.violation || (options_.until_event && result_.events >= *options_.until_event)) break;
    if (options_.progress && steps % kProgressEvery == 0) options_.progress(next_request_);
  }
  if (!result_.violation && !options_.until_event) {
    // Everything has drained: nothing is left that was accepted and not answered.
    if (!asked_.empty())
      violate(str(asked_.size(), " requests were never answered"));
    else if (scheduler_->batches_running() > 0)
      violate("batches are booked though nothing runs");
  }
  result_.decisions = scheduler_->counters().decisions;
  result_.vcpu_capacity = static_cast<double>(vcpus_);
  result_.slice_capacity = static_cast<double>(slices_);
  result_.hash = hash_.value();
  return std::move(result_);
}

void World::happen(const Happening& happening) {
  switch (happening.kind) {
    case Kind::arrival:
      arrive(happening.at);
      break;
    case Kind::finish:
      finish(happening.at, happening.subject, false);
      break;
    case Kind::fail:
      finish(happening.at, happening.subject, true);
      break;
    case Kind::lost:
      tell(
          InvokerLost{InvokerId(static_cast<InvokerId::rep>(happening.subject >> 32)), happening.subject & 0xFFFFFFFFu},
          happening.at);
      break;
    case Kind::back: {
      const std::size_t machine = happening.subject;
      epochs_[machine] = next_epoch_++;
      tell(InvokerJoined{.id = InvokerId(static_cast<InvokerId::rep>(machine)),
                         .epoch = epochs_[machine],
                         .capacity = machines_[machine]},
           happening.at);
      break;
    }
    case Kind::cancel:
      tell(RequestCancelled{RequestId(happening.subject)}, happening.at);
      break;
  }
}

void World::arrive(Time now) {
  const workload::Arrival arrival = *next_arrival_;
  const RequestId id(next_request_++);
  const Deployment& deployment = deployments_[arrival.application];
  const Time deadline = now + deployment.objective;
  asked_.emplace(id.value(), Asked{now, deadline, arrival.application, false});
  RequestArrived event{
      .id = id, .application = deployment.id, .tenant = TenantId(0), .deadline = deadline, .size = arrival.size};
  // Conditions hold half of the time, fan-outs have one to four items; keyed, so that every scheduler sees the same.
  const Workflow& workflow = deployment.application->workflow;
  for (std::uint32_t s = 0; s < workflow.size(); ++s) {
    if (!workflow.stages[s].when && !workflow.stages[s].foreach) continue;
    Rng draw = Rng::keyed(options_.seed, id.value(), 1000 + s);
    if (workflow.stages[s].when) event.verdicts.push_back({StageId(s), draw.chance(0.5)});
    if (workflow.stages[s].foreach)
      event.fan_outs.push_back({StageId(s), static_cast<std::uint32_t>(1 + draw.below(4))});
  }
  tell(event, now);
  schedule_arrival();
  if (options_.faults.cancel > 0 && luck_.chance(options_.faults.cancel))
    schedule(now + Duration::ms(luck_.uniform() * 500), Kind::cancel, id.value());
}

void World::tell(const Event& event, Time now) {
  ++result_.events;
  if (options_.check_every_event) remember(str(now.count_ns(), " ns: event kind ", event.index()));
  scheduler_->observe(event, now);
  if (options_.check_every_event) {
    if (const std::string broken = scheduler_->broken_invariant(); !broken.empty()) violate(broken);
  }
  if (options_.faults.reload_per_event > 0 && luck_.chance(options_.faults.reload_per_event)) reload();
}

// Saves the scheduler and goes on with a fresh one that has loaded the save: no later command may differ.
void World::reload() {
  const std::string saved = scheduler_->save();
  auto other = fresh_scheduler();
  if (!other->load(saved)) return violate("a saved state could not be loaded");
  if (other->save() != saved) return violate("a loaded state saves differently");
  scheduler_ = std::move(other);
}

void World::decide(Time now) {
  commands_.list.clear();
  scheduler_->decide(now, commands_);
  if (options_.check_every_event) {
    if (const std::string broken = scheduler_->broken_invariant(); !broken.empty()) violate(broken);
  }
  for (const Command& command : commands_.list) act(command, now);
  if (options_.faults.crash_per_event > 0 && luck_.chance(options_.faults.crash_per_event)) crash(now);
}

void World::act(const Command& command, Time now) {
  hash_.add(command.id.value());
  hash_.add(command.action.index());
  if (const auto* batch = std::get_if<StartBatch>(&command.action)) {
    hash_.add(batch->invoker.value());
    hash_.add(batch->positions.slices);
    hash_.add((std::uint64_t{batch->configuration.batch} << 32) | (std::uint64_t{batch->configuration.vcpu} << 16) |
              batch->configuration.slices);
    hash_.add(batch->members.front().invocation.value());
    start(*batch, command.work, now);
  } else if (const auto* reply = std::get_if<Reply>(&command.action)) {
    hash_.add(reply->request.value());
    hash_.add(reply->cost.count());
    answered(reply->request, reply->outcome, std::nullopt, reply->cost, now);
  } else if (const auto* reject = std::get_if<Reject>(&command.action)) {
    answered(reject->request, RequestOutcome::failed, reject->reason, {}, now);
  } else if (const auto* accept = std::get_if<Accept>(&command.action)) {
    const auto it = asked_.find(accept->request.value());
    if (it == asked_.end() || it->second.accepted)
      return violate(str("request ", accept->request.value(), " was accepted twice"));
    it->second.accepted = true;
  }
}

// What the profile says of a batch that is as full as it is.
profile::Latency World::believed(const StartBatch& command) const {
  const Deployment& deployment = deployments_[command.application.index()];
  Configuration actual = command.configuration;
  actual.batch = static_cast<std::uint16_t>(command.members.size());
  return deployment.profiles[command.function.index()].latency(actual);
}

// Noise is keyed by the oldest member and its stage, so that all schedulers see the same luck for the same work.
Duration World::execution(const StartBatch& command, std::uint64_t stage) const {
  const profile::Latency latency = believed(command);
  Rng draw = Rng::keyed(options_.seed, command.members.front().request.value(), stage);
  const double sigma =
      experiment_.noise ? experiment_.noise->sigma : (latency.mean_ms > 0 ? latency.sd_ms / latency.mean_ms : 0);
  double factor = 1;
  if (sigma > 0) factor += sigma * std::clamp(draw.normal(), -3.0, 3.0);
  if (experiment_.noise && draw.chance(experiment_.noise->straggler_probability))
    factor *= experiment_.noise->straggler_factor;
  return Duration::ms(latency.mean_ms * factor);
}

// Counted, not clocked: ESG 5 ns an expansion, Orion 0.5 µs a state, every decision at least 10 µs (`native`); `paper`
// charges what ESG's evaluation reports.
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
  ++result_.batches;
  result_.members += command.members.size();
  std::optional<Bytes> local, remote;
  for (const BatchMember& member : command.members) {
    if (!member.inputs_at.valid()) continue;  // came with the request
    auto& sum = member.inputs_at == command.invoker ? local : remote;
    sum = sum.value_or(Bytes{}) + member.bytes;
  }
  const Duration transfer = profile::transfer_time(experiment_.transfer, {.local = local, .remote = remote});
  Duration run = execution(command, command.members.front().stage.value());
  if (options_.faults.slow > 0 && luck_.chance(options_.faults.slow)) run = run * 10;
  const Duration held = transfer + run;
  Running running{.start = command,
                  .decided = now,
                  .started = now + thinking(work),
                  .held = experiment_.billing == Billing::held ? held : run,
                  .transfer = transfer,
                  .measured = run,
                  .epoch = epochs_[machine]};
  const std::uint64_t id = command.id.value();
  Time done = running.started + held;
  running.gone = epochs_[machine] == 0;  // sent to a machine that is already dead
  if (running.gone) report(running, ActionEnd::lost, now);
  running_.emplace(id, std::move(running));
  if (options_.faults.any()) running_order_.push_back(command.id);
  const bool fails = options_.faults.batch_fails > 0 && luck_.chance(options_.faults.batch_fails);
  if (options_.faults.message_late > 0 && luck_.chance(options_.faults.message_late))
    done += Duration::ms(luck_.uniform() * 200);
  schedule(done, fails ? Kind::fail : Kind::finish, id);
  if (options_.faults.message_twice > 0 && luck_.chance(options_.faults.message_twice))
    schedule(done + Duration::ms(luck_.uniform() * 20), Kind::finish, id);
  result_.vcpu_seconds += held.to_s() * command.configuration.vcpu;
  result_.slice_seconds += held.to_s() * command.configuration.slices;
}

void World::finish(Time now, std::uint64_t batch, bool fails) {
  const auto it = running_.find(batch);
  if (it == running_.end() || it->second.gone) {
    if (it == running_.end())
      tell(BatchFailed{.id = BatchId(batch), .error = "Duplicate"}, now);  // a second message about it
    return;
  }
  Running running = std::move(it->second);
  running_.erase(it);
  report(running, fails ? ActionEnd::failed : ActionEnd::succeeded, now);
  if (fails) return tell(BatchFailed{.id = BatchId(batch), .error = "WorkerCrashed"}, now);
  BatchFinished event{.id = BatchId(batch), .measured = running.measured, .held = running.held};
  for (const BatchMember& member : running.start.members) {
    InvocationResult result{.id = member.invocation};
    if (options_.faults.invocation_fails > 0 && luck_.chance(options_.faults.invocation_fails)) {
      result.outcome = Outcome::failed;
      result.error = "FunctionError";
    }
    event.results.push_back(std::move(result));
  }
  tell(event, now);
}

// A machine dies with all it runs; that is noticed later, and it comes back empty.
void World::crash(Time now) {
  const std::size_t machine = luck_.below(machines_.size());
  if (epochs_[machine] == 0) return;
  const std::uint64_t epoch = epochs_[machine];
  for (const BatchId id : running_order_) {
    const auto it = running_.find(id.value());
    if (it == running_.end() || it->second.gone || it->second.start.invoker.index() != machine) continue;
    it->second.gone = true;
    report(it->second, ActionEnd::lost, now);
  }
  std::erase_if(running_order_, [&](BatchId id) { return !running_.contains(id.value()); });
  epochs_[machine] = 0;
  const Time noticed = now + options_.faults.detection * (0.5 + luck_.uniform());
  schedule(noticed, Kind::lost, (static_cast<std::uint64_t>(machine) << 32) | epoch);
  schedule(noticed + options_.faults.repair * (0.5 + luck_.uniform()), Kind::back, machine);
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
  result_.seconds = now.count_ns() > 0 ? (now - kStart).to_s() : 0;
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

void World::violate(std::string what) {
  if (!result_.violation) result_.violation = Violation{result_.events, std::move(what), last_};
}

void World::remember(std::string what) {
  if (last_.size() == kLastEvents) last_.erase(last_.begin());
  last_.push_back(std::move(what));
}

}  // namespace sluice::sim
