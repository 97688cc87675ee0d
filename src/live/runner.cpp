// What comes in: letters become events.
#include "live/runner.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "data/clock.h"
#include "live/ports_of.h"

namespace sluice::live {
namespace {

constexpr std::size_t kHistory = 20'000;
constexpr Duration kSnapshotAge = Duration::ms(50);

void add(Counted& counted, std::uint64_t count, Duration time) {
  counted.count += count;
  counted.ns += static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.count_ns()));
}

ModelStats::OfBatch& of_size(std::vector<ModelStats::OfBatch>& batches, std::uint32_t size) {
  auto at = std::find_if(batches.begin(), batches.end(), [&](const auto& b) { return b.size >= size; });
  if (at == batches.end() || at->size != size) at = batches.insert(at, {size, {}});
  return *at;
}

}  // namespace

Runner::Runner(std::unique_ptr<core::Scheduler> scheduler, EventLog log, data::Arenas& arenas, Machines machines,
               Told told, std::size_t mailbox_max)
    : scheduler_(std::move(scheduler)),
      log_(std::move(log)),
      arenas_(arenas),
      link_(machines.link),
      waker_(machines.waker),
      tell_(std::move(told)),
      mailbox_(mailbox_max, [this] { ring(); }),
      history_(kHistory),
      planning_([this](PlansMade made) { mailbox_.post(Event(std::move(made))); }) {}

void Runner::start() {
  running_ = true;
  if (started_ == Time()) started_ = data::now();
  thread_ = std::thread([this] { loop(); });
}

void Runner::stop() {
  if (!thread_.joinable()) return;
  mailbox_.post(Stopping{});
  thread_.join();
}

void Runner::lend(std::function<void()> soon) {
  stop();
  soon_ = std::move(soon);
  borrower_ = std::this_thread::get_id();
  waker_.ring();  // what is there already
}

void Runner::take_back() {
  borrower_ = std::thread::id();
  start();
}

// The thread that runs it needs no waking.
void Runner::ring() {
  if (borrower_.load() == std::this_thread::get_id()) {
    soon_();
  } else {
    waker_.ring();
  }
}

void Runner::loop() {
  for (;;) {
    work();
    if (!running_) return;
    waker_.wait();
  }
}

void Runner::work() {
  heard_.clear();
  link_.receive(step_.begin(), heard_);
  mailbox_.take(letters_);
  now_ = std::max(now_, step_.end_of(StepClock::Part::look));
  for (const bus::Printed& printed : heard_.printed) history_.log(printed.batch, printed.line);
  for (Event& event : heard_.events) read(event);
  for (Letter& letter : letters_) read(letter);
  letters_.clear();
  expire_timeouts();
  const auto due = [this] {  // asked only where nothing was told: policies look at all that is loaded for it
    const auto wake = scheduler_->next_wake();
    return wake && *wake <= now_;
  };
  step_.end_of(StepClock::Part::read);
  if (told_ || due()) decide();
  in_system_.store(scheduler_->requests_in_system());
  if (changed_ && now_ - published_ >= kSnapshotAge) publish();
  step_.end_of(StepClock::Part::publish);
  note_step();
  waker_.listen(std::min(wake_at().value_or(Time::max()), link_.due()));
  if (mailbox_.size() > 0 || link_.due() <= now_) waker_.ring();
}

void Runner::decide() {
  told_ = false;
  commands_.list.clear();
  const Time began = data::now();
  scheduler_->decide(now_, commands_);
  decisions_.add(step_.end_of(StepClock::Part::decide) - began);
  log_.decided(commands_, now_);
  if (const Status flushed = log_.flush(); !flushed) tell_.trouble(flushed.error().message);
  step_.end_of(StepClock::Part::log);
  deliver(commands_);
  forget_retired();
  step_.end_of(StepClock::Part::deliver);
  log_.rotate_if_due(*scheduler_);
  step_.end_of(StepClock::Part::log);
}

// Whatever is slow here holds up everybody. Told at most once in ten seconds.
void Runner::note_step() {
  constexpr Duration kSlow = Duration::ms(1), kTellEvery = Duration::s(10);
  steps_.add(step_.whole());
  if (step_.whole() <= kSlow || now_ - slow_told_ < kTellEvery) return;
  slow_told_ = now_;
  tell_.trouble(str("a step took ", step_.whole().to_ms(), " ms: ", step_.text()));
}

std::optional<Time> Runner::wake_at() const {
  std::optional<Time> at = scheduler_->next_wake();
  const auto sooner = [&](Time other) {
    if (!at || other < *at) at = other;
  };
  if (!timeouts_.empty()) sooner(timeouts_.begin()->first);
  if (changed_) sooner(published_ + kSnapshotAge);
  return at;
}

void Runner::observe(const Event& event) {
  log_.observed(event, now_);
  scheduler_->observe(event, now_);
  told_ = changed_ = true;
}

void Runner::read(Letter& letter) {
  std::visit([this](auto& l) { read(l); }, letter);
}

void Runner::read(Event& event) {
  if (const auto* finished = std::get_if<BatchFinished>(&event)) note(*finished);
  if (const auto* failed = std::get_if<BatchFailed>(&event)) {
    history_.failed(failed->id, failed->error, now_);
    batches_.erase(failed->id);
  }
  if (const auto* expired = std::get_if<BatchExpired>(&event)) {
    history_.failed(expired->id, "Expired", now_);
    batches_.erase(expired->id);
  }
  if (const auto* quota = std::get_if<QuotaChanged>(&event)) link_.limit({quota->tenant, quota->vcpu});
  if (const auto* loaded = std::get_if<InstanceLoaded>(&event)) history_.loaded(loaded->instance, now_);
  if (const auto* unloaded = std::get_if<InstanceUnloaded>(&event)) history_.unloaded(unloaded->instance);
  observe(event);
}

bool Runner::offer(bus::Arrival& arrival, bus::Gateway& from) {
  Letter letter(Arriving{std::move(arrival), &from});
  if (mailbox_.offer(std::move(letter))) return true;
  arrival = std::move(std::get<Arriving>(letter).arrival);
  return false;
}

void Runner::read(Arriving& arriving) {
  bus::Arrival& arrival = arriving.arrival;
  const std::size_t index = arrival.application.index();
  if (index >= deployed_.size() || deployed_[index].removed) return arriving.from->moved(std::move(arrival));
  Deployed& deployed = deployed_[index];
  RequestArrived event{.id = arrival.request,
                       .application = arrival.application,
                       .tenant = deployed.tenant,
                       .deadline = now_ + arrival.objective.value_or(deployed.application->objective.latency),
                       .bytes = arrival.bytes,
                       .priority = arrival.priority,
                       .verdicts = std::move(arrival.verdicts),
                       .fan_outs = std::move(arrival.fan_outs)};
  if (deployed.application->objective.cost)
    event.cost_limit = PicoDollars::from_dollars(*deployed.application->objective.cost);
  bytes_in_ += static_cast<std::uint64_t>(event.bytes.count());
  ++deployed.stats.pending;
  history_.arrived({event.id, deployed.application, deployed.version, now_, event.deadline, arrival.asynchronous});
  Pending pending{.gateway = arriving.from,
                  .application = event.application,
                  .arrival = now_,
                  .deadline = event.deadline,
                  .timeout = std::nullopt};
  if (arrival.timeout) pending.timeout = now_ + *arrival.timeout;
  if (pending.timeout) timeouts_.emplace(*pending.timeout, event.id);
  pending_.emplace(event.id, pending);
  if (!arrival.error.empty()) {
    bus::Answered failed{.request = event.id, .kind = bus::Answered::Kind::failed};
    failed.error = std::move(arrival.error);
    return answer(std::move(failed), RequestState::failed);
  }
  observe(event);
}

// An application and its functions are one set: a new version takes the place of all that the old one had.
void Runner::read(Deploying& deploying) {
  const std::string tenant = deploying.application->tenant, name = deploying.application->name;
  const auto before = application_named(tenant, name);
  if (before && told_) decide();  // what came before is of the old version, and let in as such
  std::vector<ApplicationId> functions;
  for (std::size_t i = 0; i < deploying.functions.size(); ++i) functions.push_back(install(deploying, i + 1));
  const ApplicationId id = install(deploying, 0);
  deployed_[id.index()].functions = functions;
  if (before) {
    take_over(*before, id);
    retire(*before);  // requests of the old one go on as they began
  }
  missing_.erase({tenant, name});
  Names& names = names_[tenant];
  names[name] = id;
  // A function is called by its own name as well, unless something else has it.
  for (const ApplicationId function : functions) {
    const Application& alone = *deployed_[function.index()].application;
    names.try_emplace(alone.name, function);
    names.try_emplace(alone.functions.front().name, function);
  }
  publish();
}

ApplicationId Runner::install(const Deploying& deploying, std::size_t part) {
  const ApplicationId id(static_cast<std::uint32_t>(deployed_.size()));
  const auto& application = part == 0 ? deploying.application : deploying.functions[part - 1];
  auto arena = arenas_.of(application->tenant);
  CHECK(arena.ok());  // made before anybody was told to deploy it
  auto target = std::make_shared<const Target>(Target{id, application, std::move(*arena), deploying.version});
  deployed_.push_back({.application = application,
                       .target = std::move(target),
                       .version = deploying.version,
                       .is_function = part > 0,
                       .reason = deploying.reason,
                       .stats = {},
                       .tenant = deploying.tenant,
                       .functions = {},
                       .files = deploying.files,
                       .inputs = inputs_of(*application),
                       .outputs = outputs_of(*application),
                       .batch_max = batch_max_of(*application)});
  link_.deploy(id, application);
  ApplicationDeployed event{id, application};
  if (part < deploying.plans.size()) event.brought.plans = deploying.plans[part];
  observe(event);
  return id;
}

std::optional<ApplicationId> Runner::application_named(const std::string& tenant, const std::string& name) const {
  const auto names = names_.find(tenant);
  if (names == names_.end()) return std::nullopt;
  const auto found = names->second.find(name);
  const bool is_one = found != names->second.end() && !deployed_[found->second.index()].is_function;
  return is_one ? std::optional(found->second) : std::nullopt;
}

// Counts go on over versions, also those of functions that are still there.
void Runner::take_over(ApplicationId before, ApplicationId id) {
  const auto same_name = [&](ApplicationId a, ApplicationId b) {
    return deployed_[a.index()].application->name == deployed_[b.index()].application->name;
  };
  deployed_[id.index()].stats = deployed_[before.index()].stats;
  for (const ApplicationId function : deployed_[id.index()].functions) {
    for (const ApplicationId old : deployed_[before.index()].functions) {
      if (same_name(old, function)) deployed_[function.index()].stats = deployed_[old.index()].stats;
    }
  }
}

void Runner::read(Missing& missing) {
  missing_[{missing.tenant, missing.application}] = {.tenant = missing.tenant,
                                                     .name = missing.application,
                                                     .version = missing.version,
                                                     .state = ModelState::unavailable,
                                                     .reason = std::move(missing.reason),
                                                     .application = std::make_shared<const Application>(Application{
                                                         .name = missing.application, .tenant = missing.tenant})};
  publish();
}

void Runner::read(Removing& removing) {
  missing_.erase({removing.tenant, removing.application});
  const auto id = application_named(removing.tenant, removing.application);
  if (!id) return;
  if (told_) decide();  // what came before is let in, and ends as it began
  retire(*id);
  publish();
}

// The application and its functions: nobody calls them any more by any name.
void Runner::retire(ApplicationId id) {
  std::vector<ApplicationId> all = deployed_[id.index()].functions;
  all.push_back(id);
  Names& names = names_[deployed_[id.index()].application->tenant];
  for (const ApplicationId one : all) {
    std::erase_if(names, [&](const auto& entry) { return entry.second == one; });
    deployed_[one.index()].removed = true;
    leaving_.push_back(one);
    observe(ApplicationRemoved{one});
  }
}

void Runner::read(Cancelling& cancelling) {
  if (pending_.contains(cancelling.request)) observe(RequestCancelled{cancelling.request});
}

void Runner::read(Telling& telling) {
  std::vector<Believed> believed;
  for (std::uint32_t a = 0; a < deployed_.size(); ++a) {
    const bool whole = !deployed_[a].removed && !deployed_[a].is_function;
    const ApplicationId id(a);
    if (whole) believed.push_back({scheduler_->believed(id), scheduler_->known_branches(id)});
  }
  telling.tell(std::move(believed));
}

void Runner::read(Barrier& barrier) {
  publish();
  barrier.reached();
}

void Runner::forget_retired() {
  std::erase_if(leaving_, [&](ApplicationId id) {
    if (!scheduler_->is_retired(id)) return false;
    std::erase_if(batches_, [&](const auto& entry) { return entry.second.application == id; });
    deployed_[id.index()] = {.removed = true};
    link_.forget(id);
    tell_.forgotten(id);
    return true;
  });
}

void Runner::read(Profiled& profiled) {
  for (std::uint32_t a = 0; a < deployed_.size(); ++a) {
    const Deployed& deployed = deployed_[a];
    if (deployed.removed || deployed.application->tenant != profiled.tenant) continue;
    for (std::uint32_t f = 0; f < deployed.application->functions.size(); ++f) {
      const bool own = deployed.application->name == profiled.application ||
                       deployed.application->name == str(profiled.application, ".", profiled.function);
      if (!own || deployed.application->functions[f].name != profiled.function) continue;
      observe(ProfileChanged{ApplicationId(a), FunctionId(f), profiled.profile});
      deployed_[a].reason.clear();
    }
  }
}

void Runner::read(Branched& branched) {
  for (std::uint32_t a = 0; a < deployed_.size(); ++a) {
    const Deployed& deployed = deployed_[a];
    if (deployed.removed || deployed.application->tenant != branched.tenant) continue;
    if (deployed.application->name != branched.application) continue;
    branched.known.application = ApplicationId(a);
    observe(branched.known);
  }
}

void Runner::note(const BatchFinished& event) {
  history_.finished(event, now_);
  const auto it = batches_.find(event.id);
  if (it == batches_.end()) return;
  const Batch& batch = it->second;
  ModelStats& stats = deployed_[batch.application.index()].stats;
  add(stats.queue, batch.members, batch.waited);
  add(stats.compute_infer, 1, event.measured);
  add(stats.compute_input, 1, event.held - event.measured);
  add(stats.compute_output, 1, {});
  stats.inferences += batch.members;
  ++stats.executions;
  stats.last_inference_ms = now_.count_ns() / 1'000'000;
  add(of_size(stats.batches, batch.members).infer, 1, event.measured);
  note_stage(stats, batch, event.measured);
  batches_.erase(it);
}

void Runner::note_stage(ModelStats& stats, const Batch& batch, Duration measured) const {
  const Application& application = *deployed_[batch.application.index()].application;
  const std::string name = stage_name(application, batch.path, batch.stage);
  auto at = std::find_if(stats.stages.begin(), stats.stages.end(), [&](const auto& s) { return s.name == name; });
  if (at == stats.stages.end()) at = stats.stages.insert(at, {.name = name});
  add(at->queue, batch.members, batch.waited);
  add(at->infer, 1, measured);
  add(of_size(at->batches, batch.members).infer, 1, measured);
}

// Given up by its caller, whatever its objective.
void Runner::expire_timeouts() {
  while (!timeouts_.empty() && timeouts_.begin()->first <= now_) {
    const RequestId id = timeouts_.begin()->second;
    timeouts_.erase(timeouts_.begin());
    bus::Answered expired{.request = id, .kind = bus::Answered::Kind::deadline_exceeded};
    expired.error = "Request timeout expired";
    answer(std::move(expired), RequestState::failed);
    observe(RequestCancelled{id});
  }
}

}  // namespace sluice::live
