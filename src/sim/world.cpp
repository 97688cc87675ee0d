#include "sim/world.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "policy/catalog.h"
#include "policy/slice_positions.h"
#include "record/command_hash.h"
#include "sim/containers.h"
#include "sim/describe.h"
#include "sim/oracle/oracles.h"
#include "sim/rules.h"

namespace sluice::sim {
namespace {

constexpr Time kStart = Time::from_ns(0);
constexpr std::size_t kLastEvents = 20;
constexpr std::uint32_t kShadowDecisions = 4;

bool fits_somewhere(const Cluster& cluster, const plan::ModelStage& stage, Bytes memory) {
  if (!stage.function.valid()) return true;
  return std::any_of(stage.candidates.begin(), stage.candidates.end(), [&](const plan::Candidate& c) {
    return std::any_of(cluster.nodes.begin(), cluster.nodes.end(), [&](const NodeGroup& m) {
      NodeGroup machine = m;
      if (machine.slices_per_gpu == 0) machine.slices_per_gpu = 7;  // `auto`
      return memory <= (c.configuration.slices > 0 ? m.gpu_memory : m.memory) &&
             policy::machine_holds(machine, c.configuration);
    });
  });
}

const policy::Parameters& parameters_of(const Experiment& experiment, const std::string& scheduler) {
  static const policy::Parameters kNone;
  const auto it = experiment.parameters.find(scheduler);
  return it == experiment.parameters.end() ? kNone : it->second;
}

}  // namespace

World::World(const Experiment& experiment, WorldOptions options, workload::ArrivalStream stream)
    : experiment_(experiment),
      options_(std::move(options)),
      stream_(std::move(stream)),
      machines_(experiment.cluster),
      sessions_(machines_.size()),
      left_at_(machines_.size()),
      luck_(Rng::keyed(options_.seed, 77)) {
  result_.scheduler = options_.scheduler;
  result_.seed = options_.seed;
}

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
  std::unique_ptr<World> world(new World(experiment, std::move(options), std::move(stream).value()));
  if (const Status status = world->deploy(); !status) return status.error();
  return world;
}

Status World::deploy() {
  for (std::size_t i = 0; i < experiment_.applications.size(); ++i) {
    auto application = std::make_shared<Application>(as_deployed(experiment_, experiment_.applications[i]));
    const auto named = [&](const Error& error) {
      return Error{error.code, str("application '", application->name, "': ", error.message)};
    };
    auto profiles = plan::make_profiles(*application);
    if (!profiles) return named(profiles.error());
    const auto model = plan::make_model(*application, *profiles);
    if (!model) return named(model.error());
    for (const plan::ModelStage& stage : model->stages) {
      const Bytes memory = stage.function.valid() && experiment_.instances == Instances::counted
                               ? application->function(stage.function).memory.value_or(Bytes{})
                               : Bytes{};
      if (!fits_somewhere(experiment_.cluster, stage, memory)) {
        const Configuration& least = plan::least(stage.candidates).configuration;
        return named({ErrorCode::too_large,
                      str("no machine of the cluster fits stage '", stage.name, "'; it needs at least ", least.vcpu,
                          " vCPU, ", least.slices, " vGPU", memory > Bytes{} ? str(" and ", to_string(memory)) : "")});
      }
    }
    Deployment d{.id = ApplicationId(static_cast<ApplicationId::rep>(i)), .application = application};
    d.objective = application->objective.latency = objective_of(experiment_, *application, *model);
    for (const plan::ModelStage& stage : model->stages) d.stages.push_back(stage.name);
    d.profiles = std::move(profiles).value();
    result_.applications.push_back({.application = application->name});
    deployments_.push_back(std::move(d));
  }
  number_functions();
  scheduler_ = fresh_scheduler();
  return Done{};
}

// The same function of several applications of a tenant is one.
void World::number_functions() {
  std::vector<std::pair<std::string, const Function*>> known;  // with its tenant
  std::vector<Bytes> memory;
  std::vector<std::string> tenants;
  for (Deployment& d : deployments_) {
    const auto tenant = std::find(tenants.begin(), tenants.end(), d.application->tenant);
    d.tenant = TenantId(static_cast<TenantId::rep>(tenant - tenants.begin()));
    if (tenant == tenants.end()) tenants.push_back(d.application->tenant);
    for (const Function& function : d.application->functions) {
      const auto same = [&](const auto& k) { return k.first == d.application->tenant && *k.second == function; };
      const auto it = std::find_if(known.begin(), known.end(), same);
      d.functions.push_back(static_cast<std::uint32_t>(it - known.begin()));
      if (it != known.end()) continue;
      known.emplace_back(d.application->tenant, &function);
      memory.push_back(function.memory.value_or(Bytes{}));
    }
  }
  if (experiment_.instances == Instances::warm) machines_.keep_warm(std::move(memory));
}

policy::Policies World::make_policies() const {
  if (options_.policies) return options_.policies();
  auto policies =
      policy::make_scheduler(options_.scheduler, parameters_of(experiment_, options_.scheduler), options_.prepared);
  CHECK(policies.ok());
  return std::move(policies).value();
}

std::unique_ptr<core::Scheduler> World::fresh_scheduler() const {
  return std::make_unique<core::Scheduler>(make_policies(), options_.limits, experiment_.transfer);
}

void World::schedule(Time at, Kind kind, std::uint64_t subject) {
  heap_.push({at, next_order_++, kind, subject});
}

void World::schedule_arrival() {
  next_arrival_ = stream_.next();
  if (!next_arrival_) return;
  const Time at = kStart + next_arrival_->at;
  schedule(at, Kind::arrival, 0);
  if (strikes(options_.faults.announced))
    tell(RequestAnnounced{.application = deployments_[next_arrival_->application].id, .expected = at}, now_);
}

void World::join(std::size_t machine, Time now, const std::vector<InstanceStatus>& instances) {
  (void)machines_.boot(machine, now);
  sessions_[machine] = 0;
  left_at_[machine].clear();
  const InvokerId id(static_cast<InvokerId::rep>(machine));
  for (const InstanceStatus& i : instances) {
    const Function& function = deployments_[i.application.index()].application->function(i.function);
    machines_.set(id, i.id, {i.application, i.function, i.level, i.gpu, function.memory.value_or(Bytes{}), 0, now},
                  now);
  }
  tell(joined(machine), now);
}

// All that a machine has to say when its link is there: what runs and was not told to have ended, what is loaded or
// moves, and whose objects it holds.
InvokerJoined World::joined(std::size_t machine) const {
  const InvokerId id(static_cast<InvokerId::rep>(machine));
  InvokerJoined out{.id = id,
                    .epoch = machines_.epoch(machine),
                    .session = sessions_[machine],
                    .capacity = machines_.capacity(machine),
                    .warm = experiment_.instances == Instances::warm,
                    .objects = {left_at_[machine].begin(), left_at_[machine].end()}};
  for (const BatchId batch : running_order_) {
    const auto it = running_.find(batch.value());
    if (it == running_.end() || it->second.gone || it->second.start.invoker != id) continue;
    const StartBatch& start = it->second.start;
    out.running.push_back({start.id, start.instance, start.configuration, start.positions, {}});
    for (const BatchMember& member : start.members) out.running.back().invocations.push_back(member.invocation);
  }
  std::map<InstanceId, InstanceStatus> instances;
  for (const auto& [instance, loaded] : machines_.instances(id)) {
    instances[instance] = {instance, loaded.application, loaded.function, loaded.level, loaded.gpu, 1, std::nullopt};
  }
  for (std::uint64_t m = 0; m < next_move_; ++m) {
    const auto it = moves_.find(m);
    if (it == moves_.end() || it->second.invoker != id || it->second.epoch != out.epoch) continue;
    const Move& move = it->second;
    InstanceStatus& status = instances[move.instance];
    if (!status.id.valid()) status = {move.instance, move.becomes.application, move.becomes.function};
    status.gpu = move.becomes.gpu;
    status.moving_to = move.becomes.level;
  }
  for (const auto& [instance, status] : instances) out.instances.push_back(status);
  return out;
}

// What the scheduler is told of an application: its profiles may be wrong, then every time of a function is off by the
// same factor and nothing is said of its spread.
std::shared_ptr<const Application> World::believed(const Deployment& d) const {
  if (options_.faults.profile_wrong <= 0) return d.application;
  auto out = std::make_shared<Application>(*d.application);
  for (std::size_t f = 0; f < out->functions.size(); ++f) {
    Rng draw = Rng::keyed(options_.seed, 9000, d.functions[f]);
    double factor = 1 + options_.faults.profile_wrong * draw.uniform();
    if (draw.chance(0.5)) factor = 1 / factor;
    if (auto* model = std::get_if<ProfileModel>(&out->functions[f].profile)) {
      model->exec = model->exec * factor;
      model->noise = 0;
    } else if (auto* table = std::get_if<ProfileTable>(&out->functions[f].profile)) {
      for (ProfileRow& row : table->rows) {
        row.mean_ms *= factor;
        row.sd_ms = 0;
      }
    }
  }
  return out;
}

// Everything has drained: nothing is left that was accepted and not answered.
void World::drained() {
  if (!asked_.empty()) return violate(str(asked_.size(), " requests were never answered"));
  if (scheduler_->batches_running() > 0) return violate("batches are booked though nothing runs");
  for (std::size_t m = 0; m < left_at_.size(); ++m) {
    if (machines_.epoch(m) != 0 && !left_at_[m].empty())
      return violate(str("machine ", m, " holds objects of request ", left_at_[m].begin()->value(), ", which is over"));
  }
  if (scheduler_->requests_in_system() > 0) return violate("requests are in the system though all were answered");
}

RunResult World::run() {
  if (options_.recorder != nullptr) {
    options_.recorder->header({.scheduler = options_.scheduler,
                               .parameters = parameters_of(experiment_, options_.scheduler),
                               .limits = options_.limits,
                               .transfer = experiment_.transfer});
  }
  for (const Deployment& d : deployments_) tell(ApplicationDeployed{d.id, believed(d)}, kStart);
  std::vector<std::vector<InstanceStatus>> containers(machines_.size());
  if (experiment_.instances == Instances::counted && !options_.begins_empty)
    containers = containers_at_start(experiment_, machines_.capacities());
  for (std::size_t i = 0; i < machines_.size(); ++i) join(i, kStart, containers[i]);
  schedule_arrival();
  constexpr std::uint64_t kProgressEvery = 1 << 14;
  bool stopped = false;
  for (std::uint64_t steps = 0;; ++steps) {
    const auto wake = scheduler_->next_wake();
    // A policy that only keeps things warm would wake for ever.
    if (heap_.empty() && (!wake || asked_.empty())) break;
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
    stopped = options_.until_event && result_.events >= *options_.until_event;
    if (result_.violation || stopped) break;
    if (options_.progress && steps % kProgressEvery == 0) options_.progress(next_request_);
  }
  if (!result_.violation && !stopped) drained();
  result_.decisions = scheduler_->counters().decisions;
  result_.planned = scheduler_->counters().planned;
  result_.configuration_misses = scheduler_->counters().configuration_misses;
  result_.vcpu_capacity = static_cast<double>(machines_.vcpus());
  result_.slice_capacity = static_cast<double>(machines_.slices());
  result_.idle_warm_gb_s = machines_.idle_gb_s(now_);
  result_.hash = hash_.value();
  return std::move(result_);
}

void World::tell(const Event& event, Time now) {
  ++result_.events;
  ++result_.events_by_kind[event.index()];
  if (options_.check_every_event) remember(event, now);
  if (options_.recorder != nullptr) options_.recorder->observed(event, now);
  scheduler_->observe(event, now);
  if (shadow_ != nullptr) shadow_->observe(event, now);
  if (options_.oracles != nullptr) options_.oracles->observed(event, now);
  if (options_.check_every_event) {
    if (const std::string broken = scheduler_->broken_invariant(); !broken.empty()) violate(broken);
  }
  if (strikes(options_.faults.reload_per_event)) reload();
}

// Saves the scheduler and goes on with a fresh one that has loaded the save: no later command may differ. The saved one
// follows for a few decisions, so that a policy with state outside of its save is found where it differs.
void World::reload() {
  const std::string saved = scheduler_->save();
  auto other = fresh_scheduler();
  if (!other->load(saved)) return violate("a saved state could not be loaded");
  if (other->save() != saved) return violate("a loaded state saves differently");
  shadow_ = std::exchange(scheduler_, std::move(other));
  shadow_decisions_ = kShadowDecisions;
}

void World::compare_with_shadow(Time now) {
  Commands theirs;
  shadow_->decide(now, theirs);
  if (record::hash_of(theirs) != record::hash_of(commands_) || shadow_->next_wake() != scheduler_->next_wake())
    violate("a loaded scheduler decides differently");
  if (--shadow_decisions_ == 0) shadow_.reset();
}

void World::decide(Time now) {
  commands_.list.clear();
  scheduler_->decide(now, commands_);
  if (shadow_ != nullptr) compare_with_shadow(now);
  if (options_.check_every_event) {
    if (const std::string broken = scheduler_->broken_invariant(); !broken.empty()) violate(broken);
  }
  if (options_.recorder != nullptr) options_.recorder->decided(now, commands_);
  if (!commands_.list.empty()) hash_.add(record::hash_of(commands_));
  if (options_.tamper) options_.tamper(commands_);
  if (options_.oracles != nullptr) {
    options_.oracles->decided(commands_, now);
    if (!options_.oracles->broken().empty()) violate(options_.oracles->broken());
  }
  for (const Command& command : commands_.list) act(command, now);
  if (options_.faults.any()) strike(now);
}

void World::violate(std::string what) {
  if (result_.violation) return;
  result_.violation = Violation{result_.events, std::move(what), {}};
  for (const auto& [event, at] : last_) result_.violation->last_events.push_back(describe(event, at));
}

void World::remember(const Event& event, Time now) {
  if (last_.size() == kLastEvents) last_.pop_front();
  last_.emplace_back(event, now);
}

}  // namespace sluice::sim
