// Sockets, the clock, and the lives of workers. Batches are in agent_batches.cpp.
#include "invoker/agent.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/text.h"
#include "data/clock.h"

namespace sluice::invoker {
namespace {

constexpr std::size_t kAtOnce = 64;  // sockets of workers that are read before the scheduler hears of it

std::uint64_t key_of(InstanceId id, bool log) {
  return id.value() << 1 | (log ? 1 : 0);
}

const Body& body_of(const Function& function, Level level) {
  if (level == Level::device && function.gpu) return *function.gpu;
  return function.cpu ? *function.cpu : *function.gpu;
}

}  // namespace

Agent::Agent(AgentOptions options, std::shared_ptr<data::Arena> arena, data::ObjectStore& objects, AgentHooks hooks)
    : options_(std::move(options)),
      arena_(std::move(arena)),
      objects_(objects),
      hooks_(std::move(hooks)),
      limits_(options_.control_groups ? str("sluice-", ::getpid()) : ""),
      spawner_(options_.spawner),
      luck_(options_.seed) {}

Agent::~Agent() {
  stop();
}

Status Agent::start() {
  if (const Status started = waker_.start(); !started) return started;
  spawning_ = std::make_unique<TaskThread>();
  return ending_.start();
}

void Agent::stop() {
  if (spawning_) spawning_->stop();
  take_spawned();
  for (auto& [id, worker] : workers_) end(id, std::move(worker->process), std::move(worker->running));
  workers_.clear();
  ending_.stop();
  publish();
}

void Agent::deploy(ApplicationId id, std::shared_ptr<const Application> application) {
  if (applications_.size() <= id.index()) applications_.resize(id.index() + 1);
  Known& known = applications_[id.index()];
  known.application = std::move(application);
  known.profiles.clear();
  for (const Function& function : known.application->functions) {
    auto profile = profile::FunctionProfile::make(function);
    known.profiles.emplace_back();
    if (profile) known.profiles.back() = std::move(*profile);
  }
}

void Agent::forget(ApplicationId id) {
  Known& known = applications_[id.index()];
  known = {.application = without_workflow(*known.application), .profiles = {}};
}

void Agent::look() {
  std::array<std::uint64_t, kAtOnce> keys;
  const std::size_t count = waker_.take(keys);
  for (std::size_t i = 0; i < count; ++i) on_readable(InstanceId(keys[i] >> 1), (keys[i] & 1) != 0);
  take_spawned();
  look_at_clock();
}

void Agent::listen(std::optional<Time> until) {
  waker_.listen(std::min(until.value_or(Time::max()), due()));
  if (any_spawned()) waker_.ring();
}

void Agent::act(Command& command) {
  if (const auto* load_command = std::get_if<LoadInstance>(&command.action)) {
    load(*load_command);
  } else if (const auto* evict_command = std::get_if<EvictInstance>(&command.action)) {
    evict(*evict_command);
  } else if (auto* start = std::get_if<StartBatch>(&command.action)) {
    start_batch(*start);
  }
  // A batch that is cancelled runs to its end: a worker cannot be stopped within one without ending it.
}

const Function& Agent::function_of(ApplicationId application, FunctionId function) const {
  CHECK(application.index() < applications_.size() && applications_[application.index()].application != nullptr);
  return applications_[application.index()].application->function(function);
}

Worker* Agent::find(InstanceId id) {
  const auto it = workers_.find(id);
  return it == workers_.end() ? nullptr : it->second.get();
}

ColdStart& Agent::cold_start_of(const Worker& worker) {
  return cold_starts_[{applications_[worker.application.index()].application->name,
                       function_of(worker.application, worker.function).name}];
}

void Agent::load(const LoadInstance& command) {
  const Function& function = function_of(command.application, command.function);
  if (Worker* known = find(command.instance)) {  // its process is there: only the level rises
    known->wanted = command.level;
    known->since = data::now();
    known->ready_at = known->since + function.cold_start.device;
    return;
  }
  const Runtime runtime = body_of(function, command.level).runtime;
  auto worker = std::make_unique<Worker>();
  worker->instance = command.instance;
  worker->invoker = command.invoker;
  worker->application = command.application;
  worker->function = command.function;
  worker->wanted = command.level;
  worker->since = data::now();
  if (runtime == Runtime::emulated) worker->ready_at = worker->since + function.cold_start.total();
  if (runtime != Runtime::emulated) worker->memory = function.memory;
  const std::optional<Bytes> memory = worker->memory;
  workers_.emplace(worker->instance, std::move(worker));
  ++counters_.cold_starts;
  spawning_->post([this, runtime, memory, instance = command.instance] {
    auto process = spawner_.spawn(runtime);
    // Before it loads, so that what it starts then is limited as well.
    if (process) limits_.confine(instance, process->pid, memory);
    {
      const std::lock_guard lock(spawned_mutex_);
      spawned_.push_back({instance, std::move(process)});
    }
    waker_.ring();
  });
}

bool Agent::any_spawned() {
  const std::lock_guard lock(spawned_mutex_);
  return !spawned_.empty();
}

void Agent::take_spawned() {
  std::vector<Spawned> taken;
  {
    const std::lock_guard lock(spawned_mutex_);
    taken.swap(spawned_);
  }
  for (Spawned& one : taken) {
    Worker* worker = find(one.instance);
    if (worker == nullptr) {  // given up meanwhile
      if (one.process) end(one.instance, std::move(*one.process), std::nullopt);
    } else if (one.process) {
      spawned(*worker, std::move(*one.process));
    } else {
      lose(*worker, str("cannot be made: ", one.process.error().message));
    }
  }
}

void Agent::spawned(Worker& worker, WorkerProcess process) {
  const Function& function = function_of(worker.application, worker.function);
  const Body& body = body_of(function, worker.wanted);
  worker.process = std::move(process);
  worker.made = data::now();
  cold_start_of(worker).process.add(worker.made - worker.since);
  limits_.enter(worker.instance, worker.process.pid);
  std::string bytes;
  const Status encoded = wire::encode(wire::ToWorker(wire::Load{.arena_bytes = arena_->capacity(),
                                                                .function = function.name,
                                                                .body = body,
                                                                .inputs = function.inputs,
                                                                .outputs = function.outputs}),
                                      bytes);
  const Status sent = encoded ? worker.process.channel.send(bytes, {arena_->descriptor()}) : encoded;
  if (!sent) return lose(worker, str("cannot be told what to load: ", sent.error().message));
  waker_.watch(worker.process.channel.descriptor(), key_of(worker.instance, false));
  waker_.watch(worker.process.log.get(), key_of(worker.instance, true));
  publish();
}

void Agent::evict(const EvictInstance& command) {
  Worker* worker = find(command.instance);
  if (worker == nullptr) return;
  worker->level = worker->wanted = command.level;
  if (command.level == Level::none) remove(*worker);
  hooks_.event(InstanceUnloaded{.invoker = command.invoker, .instance = command.instance, .level = command.level});
}

void Agent::on_loaded(Worker& worker, const wire::Loaded& loaded) {
  if (worker.loaded) return lose(worker, "said twice that it is loaded");
  if (!loaded.error.empty()) {
    const LoadFailed failed{
        .invoker = worker.invoker,
        .instance = worker.instance,
        .error = str("LoadFailed: function '", function_of(worker.application, worker.function).name,
                     "' cannot be loaded: ", loaded.error)};
    remove(worker);
    return hooks_.event(failed);
  }
  worker.loaded = true;
  worker.loaded_at = data::now();
  cold_start_of(worker).load.add(worker.loaded_at - worker.made);
  if (!worker.ready_at) worker.ready_at = worker.since;
  publish();
}

// Loads whose time has come, and what hangs.
void Agent::look_at_clock() {
  const Time now = data::now();
  std::vector<Worker*> hanging;
  for (auto& [id, worker] : workers_) {
    if (worker->loaded && worker->ready_at && *worker->ready_at <= now) {
      worker->ready_at.reset();
      worker->level = worker->wanted;
      cold_start_of(*worker).ready.add(now - std::max(worker->since, worker->loaded_at));
      hooks_.event(InstanceLoaded{
          .invoker = worker->invoker, .instance = id, .level = worker->level, .measured = now - worker->since});
    } else if (!worker->loaded && now - worker->since > options_.load_max) {
      hanging.push_back(worker.get());
    }
    if (!worker->running) continue;
    const Duration most = std::max(options_.hang_least, worker->running->start.expected * options_.hang_factor);
    if (now - worker->running->began > most) hanging.push_back(worker.get());
  }
  for (Worker* worker : hanging) lose(*worker, "did not answer in time");
}

Time Agent::due() const {
  Time next = Time::max();
  for (const auto& [id, worker] : workers_) {
    if (worker->loaded && worker->ready_at) next = std::min(next, *worker->ready_at);
    if (!worker->loaded) next = std::min(next, worker->since + options_.load_max);
    if (!worker->running) continue;
    const Duration most = std::max(options_.hang_least, worker->running->start.expected * options_.hang_factor);
    next = std::min(next, worker->running->began + most);
  }
  return next;
}

void Agent::lose(Worker& worker, const std::string& why) {
  const InvokerId invoker = worker.invoker;
  const InstanceId instance = worker.instance;
  const std::string name = function_of(worker.application, worker.function).name;
  ++counters_.crashes;
  end_log(worker);
  const bool anew = worker.level == Level::none, rising = worker.wanted > worker.level;
  const std::string printed = worker.last_line.empty() ? "" : str("; it printed last: ", worker.last_line);
  std::optional<BatchId> batch;
  if (worker.running) batch = worker.running->start.id;
  remove(worker);
  const std::string error = str("WorkerFailed: the worker of function '", name, "' ", why, printed);
  if (rising) hooks_.event(LoadFailed{.invoker = invoker, .instance = instance, .error = error});
  if (anew) return;
  if (batch) hooks_.event(BatchFailed{.id = *batch, .error = error});
  hooks_.event(InstanceUnloaded{.invoker = invoker, .instance = instance, .level = Level::none});
}

void Agent::remove(Worker& worker) {
  const InstanceId id = worker.instance;
  end(id, std::move(worker.process), std::move(worker.running));
  workers_.erase(id);
  publish();
}

// The books have its memory back before the system does; a process that was killed takes no more. What it had of the
// arena it can write until it is gone, so that is free only then.
void Agent::end(InstanceId instance, WorkerProcess process, std::optional<Running> running) {
  limits_.leave(instance);
  const auto held = std::make_shared<const std::optional<Running>>(std::move(running));
  ending_.end(std::move(process), [this, instance, held] { limits_.clear(instance); });
}

void Agent::publish() {
  std::vector<WorkerStatus> status;
  for (const auto& [id, worker] : workers_) {
    status.push_back({.instance = id,
                      .invoker = worker->invoker,
                      .function = function_of(worker->application, worker->function).name,
                      .pid = worker->process.pid,
                      .loaded = worker->loaded});
  }
  const std::lock_guard lock(status_mutex_);
  status_.swap(status);
}

std::vector<WorkerStatus> Agent::workers() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

}  // namespace sluice::invoker
