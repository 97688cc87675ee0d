// The agent's thread: messages in, sockets, the clock, and the lives of workers. Batches are in agent_batches.cpp.
#include "invoker/agent.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/text.h"
#include "data/clock.h"

namespace sluice::invoker {
namespace {

constexpr std::uint64_t kWakeup = ~std::uint64_t{0};
constexpr std::size_t kEvents = 64;

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
      limits_(str("sluice-", ::getpid())),
      spawner_(options_.spawner),
      luck_(options_.seed) {}

Agent::~Agent() {
  stop();
}

Status Agent::start() {
  epoll_ = wire::Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  wakeup_ = wire::Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{.events = EPOLLIN, .data = {.u64 = kWakeup}};
  if (!epoll_.valid() || !wakeup_.valid() || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event) != 0) {
    return Error{ErrorCode::unavailable, str("the invoker cannot start: ", std::strerror(errno))};
  }
  thread_ = std::thread([this] { loop(); });
  return Done{};
}

void Agent::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (!thread_.joinable()) return;
  wake();
  thread_.join();
}

void Agent::deploy(ApplicationId id, std::shared_ptr<const Application> application) {
  {
    const std::lock_guard lock(mutex_);
    inbox_.emplace_back(std::pair(id, std::move(application)));
  }
  wake();
}

void Agent::post(std::vector<Command> commands) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = inbox_.empty();
    for (Command& command : commands) inbox_.emplace_back(std::move(command));
  }
  if (first) wake();
}

void Agent::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wakeup_.get(), &one, sizeof one);
}

void Agent::loop() {
  std::array<epoll_event, kEvents> events{};
  for (;;) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), kEvents, wait_ms());
    for (int i = 0; i < count; ++i) {
      const std::uint64_t key = events[static_cast<std::size_t>(i)].data.u64;
      if (key == kWakeup) {
        std::uint64_t ignored = 0;
        (void)!::read(wakeup_.get(), &ignored, sizeof ignored);
      } else {
        on_readable(InstanceId(key >> 1), (key & 1) != 0);
      }
    }
    take_messages();
    look_at_clock();
    const std::lock_guard lock(mutex_);
    if (stopping_) break;
  }
  for (auto& [id, worker] : workers_) end_process(worker->process);
  for (const auto& [id, worker] : workers_) limits_.leave(id);
  workers_.clear();
  publish();
}

void Agent::take_messages() {
  {
    const std::lock_guard lock(mutex_);
    taken_.swap(inbox_);
  }
  for (Message& message : taken_) {
    if (auto* command = std::get_if<Command>(&message)) {
      act(*command);
      continue;
    }
    auto& [id, application] = std::get<1>(message);
    if (applications_.size() <= id.index()) applications_.resize(id.index() + 1);
    Known& known = applications_[id.index()];
    known.application = application;
    known.profiles.clear();
    for (const Function& function : application->functions) {
      auto profile = profile::FunctionProfile::make(function);
      known.profiles.emplace_back();
      if (profile) known.profiles.back() = std::move(*profile);
    }
  }
  taken_.clear();
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

void Agent::load(const LoadInstance& command) {
  const Function& function = function_of(command.application, command.function);
  if (Worker* known = find(command.instance)) {  // its process is there: only the level rises
    known->wanted = command.level;
    known->since = data::now();
    known->ready_at = known->since + function.cold_start.device;
    return;
  }
  const auto failed = [&](const std::string& error) {
    hooks_.event(LoadFailed{.invoker = command.invoker, .instance = command.instance, .error = error});
  };
  const Body& body = body_of(function, command.level);
  auto process = spawner_.spawn(body.runtime);
  if (!process) return failed(process.error().message);
  auto worker = std::make_unique<Worker>();
  worker->instance = command.instance;
  worker->invoker = command.invoker;
  worker->application = command.application;
  worker->function = command.function;
  worker->wanted = command.level;
  worker->process = std::move(*process);
  worker->since = data::now();
  if (body.runtime == Runtime::emulated) worker->ready_at = worker->since + function.cold_start.total();
  std::string bytes;
  const Status encoded = wire::encode(wire::ToWorker(wire::Load{.arena_bytes = arena_->capacity(),
                                                                .function = function.name,
                                                                .body = body,
                                                                .inputs = function.inputs,
                                                                .outputs = function.outputs}),
                                      bytes);
  const Status sent = encoded ? worker->process.channel.send(bytes, {arena_->descriptor()}) : encoded;
  if (!sent) {
    end_process(worker->process);
    return failed(sent.error().message);
  }
  limits_.enter(worker->instance, worker->process.pid, body.runtime == Runtime::emulated ? std::nullopt : function.memory);
  for (const bool log : {false, true}) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = key_of(worker->instance, log)}};
    const int descriptor = log ? worker->process.log.get() : worker->process.channel.descriptor();
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
  }
  ++counters_.cold_starts;
  workers_.emplace(worker->instance, std::move(worker));
  publish();
}

void Agent::evict(const EvictInstance& command) {
  Worker* worker = find(command.instance);
  if (worker == nullptr) return;
  worker->level = worker->wanted = command.level;
  if (command.level == Level::none) remove(*worker);
  hooks_.event(
      InstanceUnloaded{.invoker = command.invoker, .instance = command.instance, .level = command.level});
}

void Agent::on_loaded(Worker& worker, const wire::Loaded& loaded) {
  if (worker.loaded) return lose(worker, "said twice that it is loaded");
  if (!loaded.error.empty()) {
    const LoadFailed failed{.invoker = worker.invoker, .instance = worker.instance, .error = loaded.error};
    remove(worker);
    return hooks_.event(failed);
  }
  worker.loaded = true;
  worker.load_took = data::now() - worker.since;
  if (!worker.ready_at) worker.ready_at = worker.since;
}

// Loads whose time has come, and what hangs.
void Agent::look_at_clock() {
  const Time now = data::now();
  std::vector<Worker*> hanging;
  for (auto& [id, worker] : workers_) {
    if (worker->loaded && worker->ready_at && *worker->ready_at <= now) {
      worker->ready_at.reset();
      worker->level = worker->wanted;
      hooks_.event(InstanceLoaded{.invoker = worker->invoker,
                                  .instance = id,
                                  .level = worker->level,
                                  .measured = now - worker->since});
    } else if (!worker->loaded && now - worker->since > options_.load_max) {
      hanging.push_back(worker.get());
    }
    if (!worker->running) continue;
    const Duration most = std::max(options_.hang_least, worker->running->start.expected * options_.hang_factor);
    if (now - worker->running->began > most) hanging.push_back(worker.get());
  }
  for (Worker* worker : hanging) lose(*worker, "did not answer in time");
}

int Agent::wait_ms() const {
  Time next = Time::max();
  for (const auto& [id, worker] : workers_) {
    if (worker->loaded && worker->ready_at) next = std::min(next, *worker->ready_at);
    if (!worker->loaded) next = std::min(next, worker->since + options_.load_max);
    if (!worker->running) continue;
    const Duration most = std::max(options_.hang_least, worker->running->start.expected * options_.hang_factor);
    next = std::min(next, worker->running->began + most);
  }
  if (next == Time::max()) return -1;
  const double ms = (next - data::now()).to_ms();
  return ms <= 0 ? 0 : static_cast<int>(std::min(ms, 1e6)) + 1;
}

void Agent::lose(Worker& worker, const std::string& why) {
  const InvokerId invoker = worker.invoker;
  const InstanceId instance = worker.instance;
  const std::string name = function_of(worker.application, worker.function).name;
  ++counters_.crashes;
  read_log(worker);
  const bool loading = worker.level == Level::none;
  std::optional<BatchId> batch;
  if (worker.running) batch = worker.running->start.id;
  remove(worker);
  const std::string error = str("WorkerFailed: the worker of function '", name, "' ", why);
  if (loading) return hooks_.event(LoadFailed{.invoker = invoker, .instance = instance, .error = error});
  if (batch) hooks_.event(BatchFailed{.id = *batch, .error = error});
  hooks_.event(InstanceUnloaded{.invoker = invoker, .instance = instance, .level = Level::none});
}

void Agent::remove(Worker& worker) {
  const InstanceId id = worker.instance;
  end_process(worker.process);
  limits_.leave(id);
  workers_.erase(id);
  publish();
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
