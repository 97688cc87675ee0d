// Worker processes, their sockets, and the clock. Instances are in agent_instances.cpp.
#include "invoker/agent.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/clock.h"
#include "invoker/process_tree.h"
#include "invoker/worker_end.h"

namespace sluice::invoker {
namespace {

constexpr std::size_t kAtOnce = 64;  // sockets of workers that are read before the scheduler hears of it
constexpr Duration kMemoryEvery = Duration::s(1);

constexpr Duration kEndMax = Duration::s(1);  // from the end of a socket to the end of its process
// A function has its vCPUs while it runs; what it leaves running after its answer is not worth more than a moment.
constexpr Duration kRestAfter = Duration::ms(100);

// What of a process is readable.
enum class Source : std::uint64_t { socket, log, end };

std::uint64_t key_of(ProcessId id, Source source) {
  return id.value() << 2 | static_cast<std::uint64_t>(source);
}
Source source_of(std::uint64_t key) {
  return static_cast<Source>(key & 3);
}

// Emulated slices are no place to be.
Level shown_level(const Instance& instance) {
  if (!instance.loaded) return Level::process;
  return instance.process->on_gpu ? instance.level : Level::host;
}

// Where no control group does it: a worker that has grown too large goes between batches, at the cost of a cold start.
// What it did, if it has.
std::optional<std::string> outgrown(Process& process) {
  const Time now = data::now();
  if (process.memory_by_group || process.running > 0 || now - process.memory_seen < kMemoryEvery) return std::nullopt;
  const std::optional<Bytes> most = process.memory_max();
  if (!most) return std::nullopt;
  process.memory_seen = now;
  const Bytes holds = private_memory_of(family_of(process.session->process().pid));
  if (holds <= *most) return std::nullopt;
  return str(over_memory(*most), ": it holds ", to_string(holds));
}

void stop_watching(Waker& waker, WorkerProcess& worker) {
  for (const int watched : {worker.channel.descriptor(), worker.log.get(), end_descriptor(worker)}) {
    waker.forget(watched);
  }
}

}  // namespace

Agent::Agent(AgentOptions options, data::Arenas& arenas, data::ObjectStore& objects, AgentHooks hooks)
    : options_(std::move(options)),
      arenas_(arenas),
      objects_(objects),
      hooks_(std::move(hooks)),
      counters_(options_.gpus.devices.size()),
      limits_(options_.control_groups ? str("sluice-", ::getpid()) : ""),
      spawner_(options_.spawner),
      applications_(arenas),
      forms_(options_.forms),
      kept_(waker_, counters_,
            {.find = [this](ProcessId id) { return find(id); },
             .lose = [this](Process& process, const std::string& why) { lose(process, why); },
             // Who waits for it goes on; so does an instance that was to leave.
             .fetched =
                 [this](ProcessId id) {
                   batches_.go_on();
                   const Process* process = find(id);
                   if (process == nullptr || process->instances.size() != 1) return;
                   Instance& last = *process->instances.front();
                   if (last.leaving && last.running == 0 && last.loaded) leave(last);
                 }}),
      batches_(options_, options_.seed,
               {.applications = applications_,
                .objects = objects_,
                .others = options_.others,
                .pauses = pauses_,
                .limits = limits_,
                .counters = counters_,
                .kept = kept_,
                .keeps = options_.others == nullptr && options_.gpus.mode != GpuMode::none &&
                         options_.gpus.mode != GpuMode::mig},
               {.event = hooks_.event,
                .log = hooks_.log,
                .lose = [this](Process& process, const std::string& why) { lose(process, why); },
                .lose_if_there =
                    [this](ProcessId id, const std::string& why) {
                      if (Process* process = find(id)) lose(*process, why);
                    },
                // What the worker printed before it answered was read before its answer, unless so much was readable
                // that it was left for later, or it prints more than is looked at. A line without its end is this
                // batch's if no other one runs.
                .ending =
                    [this](Process& process) {
                      if (!seen_all_ || process.log_again) read_log(process);
                      if (process.running == 1) end_line(process);
                    },
                .over =
                    [this](Instance& instance) {
                      if (instance.leaving && instance.running == 0) return leave(instance);
                      Process& process = *instance.process;
                      if (const auto why = outgrown(process)) lose(process, *why);
                    },
                .sample = hooks_.sample,
                .changed = [this] { stale_ = true; }}) {
  if (!hooks_.note) hooks_.note = [](const Remark&) {};
}

Agent::~Agent() {
  stop();
}

Status Agent::start() {
  if (const Status started = waker_.start(); !started) return started;
  if (!options_.gpus.mps.empty() && !options_.gpus.devices.empty()) {
    auto mps = Mps::start(options_.gpus.devices, options_.gpus.mps);
    if (!mps) return mps.error();
    mps_ = std::move(*mps);
  }
  spawning_ = std::make_unique<TaskThread>();
  return ending_.start();
}

void Agent::stop() {
  if (spawning_) spawning_->stop();
  take_spawned();
  for (auto& [id, process] : processes_) end(*process);
  for (Lingering& one : lingering_) end(*one.process);
  lingering_.clear();
  batches_.clear();
  instances_.clear();
  processes_.clear();
  ending_.stop();
  mps_.reset();  // nobody uses it any more
  publish();
}

void Agent::deploy(ApplicationId id, std::shared_ptr<const Application> application) {
  applications_.add(id, std::move(application));
}

void Agent::limit(const std::string& tenant, std::optional<std::uint32_t> vcpu) {
  limits_.limit(tenant, vcpu);
}

void Agent::forget(ApplicationId id) {
  applications_.forget(id);
  pauses_.forget(id);
  batches_.forget(id);
}

void Agent::look() {
  std::array<std::uint64_t, kAtOnce> keys;
  const std::size_t count = waker_.take(keys);
  seen_all_ = count < keys.size();
  // A worker prints before it answers, so that what it printed is readable by now, and is read first.
  std::partition(keys.begin(), keys.begin() + count, [](std::uint64_t key) { return source_of(key) == Source::log; });
  for (std::size_t i = 0; i < count; ++i) on_readable(keys[i]);
  take_spawned();
  kept_.release();
  look_at_clock();
  if (stale_) publish();
}

void Agent::act(Command& command) {
  if (const auto* load_command = std::get_if<LoadInstance>(&command.action)) return load(*load_command);
  if (const auto* evict_command = std::get_if<EvictInstance>(&command.action)) return evict(*evict_command);
  if (auto* start = std::get_if<StartBatch>(&command.action)) return batches_.start(*start, find(start->instance));
  if (const auto* cancel = std::get_if<CancelBatch>(&command.action)) return batches_.cancel(*cancel);
  if (const auto* release = std::get_if<ReleaseObjects>(&command.action)) {
    if (options_.others != nullptr) options_.others->forget(release->request);
    return objects_.release(release->request);
  }
  ++counters_.refused;
  hooks_.note(worker_remark(Remark::Level::error,
                            "a command was not carried out: an answer to a request is nothing that an invoker does"));
}

Instance* Agent::find(InstanceId id) {
  const auto it = instances_.find(id);
  return it == instances_.end() ? nullptr : it->second.get();
}

Process* Agent::find(ProcessId id) {
  const auto it = processes_.find(id);
  return it == processes_.end() ? nullptr : it->second.get();
}

void Agent::make(Process& process) {
  const Instance& first = *process.instances.front();
  const Time now = data::now();
  const Duration pause = pauses_.pause(first.what(), now);
  if (pause == Duration()) return spawn(process);
  process.make_at = now + pause;
  hooks_.note(worker_remark(Remark::Level::warning, str("the workers of function '", applications_.function(first).name,
                                                        "' crash: the next one is made in ", pause.to_ms(), " ms")));
}

// A process that others may join is told no model: theirs are others.
void Agent::spawn(Process& process) {
  ++counters_.cold_starts;
  process.make_at.reset();
  const Instance& first = *process.instances.front();
  const Body& body = applications_.body(first);
  const std::optional<Bytes> memory = process.memory_by_group ? process.memory_max() : std::nullopt;
  Body runs = process.shared ? Body{.runtime = process.runtime} : body;
  std::vector<std::string> variables;
  if (process.on_gpu) variables = environment_of(options_.gpus.devices[process.gpu]);
  if (process.on_gpu && mps_ != nullptr) {
    const std::vector<std::string>& found = mps_->environment(process.gpu);
    variables.insert(variables.end(), found.begin(), found.end());
  }
  spawning_->post([this, runs = std::move(runs), tenant = process.tenant, memory, id = process.id, variables] {
    if (const auto arena = variables.empty() ? Error{} : arenas_.of(tenant); arena) (*arena)->pin();
    auto worker = spawner_.spawn(
        runs, tenant,
        [&](pid_t pid) {
          limits_.confine({id, tenant}, pid, memory);
        },
        variables);
    {
      const std::lock_guard lock(spawned_mutex_);
      spawned_.push_back({{id, tenant}, std::move(worker)});
    }
    waker_.ring();
  });
}

void Agent::take_spawned() {
  std::vector<Spawned> taken;
  {
    const std::lock_guard lock(spawned_mutex_);
    taken.swap(spawned_);
  }
  for (Spawned& one : taken) {
    Process* process = find(one.worker.id);
    if (process == nullptr) {  // given up meanwhile
      if (one.process) ending_.end(std::move(*one.process), [this, worker = one.worker] { limits_.clear(worker); });
    } else if (one.process) {
      spawned(*process, std::move(*one.process));
    } else {
      lose(*process, str("cannot be made: ", one.process.error().message));
    }
  }
}

void Agent::spawned(Process& process, WorkerProcess worker) {
  process.made = data::now();
  limits_.enter({process.id, process.tenant}, worker.pid);
  const auto sharing = options_.sharing.find(process.runtime);
  auto arena = arenas_.of(process.tenant);
  Session::Options options{.lanes = sharing == options_.sharing.end() ? 1 : sharing->second.lanes,
                           .own_pages = process.memory_by_group};
  if (process.on_gpu) {
    options.lanes = options.slices = options_.gpus.slices;
    options.mode = options_.gpus.mode;
  }
  process.session.emplace(std::move(worker), arena ? *arena : nullptr, options);
  if (!arena) return lose(process, str("gets no shared memory: ", arena.error().message));
  if (const Status told = process.session->hello(); !told) {
    return lose(process, str("cannot be told anything: ", told.error().message));
  }
  waker_.watch(process.session->process().channel.descriptor(), key_of(process.id, Source::socket));
  waker_.watch(process.session->process().log.get(), key_of(process.id, Source::log));
  const ProcessId id = process.id;
  for (Instance* instance : std::vector(process.instances)) {
    tell_to_load(*instance);
    if (find(id) == nullptr) return;  // lost with the first that it could not be told
  }
  publish();
}

void Agent::on_readable(std::uint64_t key) {
  Process* process = find(ProcessId(key >> 2));
  if (process == nullptr) return;
  if (source_of(key) == Source::log) return read_log(*process);
  if (process->closed) return on_closed(*process);
  Session::Heard heard = process->session->hear();
  if (auto* answer = std::get_if<Session::Answer>(&heard)) return batches_.take(*process, *answer);
  if (const auto* loaded = std::get_if<wire::Loaded>(&heard)) return on_loaded(*process, *loaded);
  if (const auto* unloaded = std::get_if<wire::Unloaded>(&heard)) return on_unloaded(*process, *unloaded);
  if (const auto* moved = std::get_if<wire::Moved>(&heard)) return on_moved(*process, *moved);
  if (const auto* fetched = std::get_if<wire::Fetched>(&heard)) return kept_.fetched(*process, *fetched);
  if (const auto* broken = std::get_if<Session::Broken>(&heard)) return lose(*process, broken->why);
  if (!std::holds_alternative<Session::Closed>(heard)) return;
  process->closed = data::now();
  waker_.forget(process->session->process().channel.descriptor());
  process->session->close();
  waker_.watch(end_descriptor(process->session->process()), key_of(process->id, Source::end));
  on_closed(*process);
}

// A process closes its socket while it ends: a moment later it is known how.
void Agent::on_closed(Process& process) {
  const auto how = how_it_ended(process.session->process());
  if (!how) return;
  const auto most = process.memory_max();
  const bool over =
      process.memory_by_group && most && limits_.memory_kills({process.id, process.tenant}) > process.memory_kills;
  lose(process, over ? over_memory(*most) : *how);
}

void Agent::read_log(Process& process) {
  wire::Descriptor& log = process.session->process().log;
  const bool more = process.log.read(log, batches_.wants_log(process),
                                     [&](const std::string& line) { batches_.printed(process, line); });
  if (more && !process.log_again) {
    process.log_again = process.log.pause(data::now());
    if (process.log_again) waker_.forget(log.get());
  }
  if (more || !log.valid()) return;
  waker_.forget(log.get());
  log.reset();
}

void Agent::end_line(Process& process) {
  process.log.end_line([&](const std::string& line) { batches_.printed(process, line); });
}

void Agent::lose(Process& process, const std::string& why, std::optional<Time> end_at) {
  ++counters_.crashes;
  if (process.session) {
    read_log(process);  // what it printed before it ended is in the pipe by now
    end_line(process);
  }
  std::vector<Event> events;
  for (const Instance* instance : process.instances) {
    const std::string error =
        with_last_line(str("WorkerFailed: the worker of function '", applications_.function(*instance).name, "' ", why),
                       process.log.last_line());
    hooks_.note(worker_remark(Remark::Level::error, error));
    const bool anew = instance->level == Level::none && !instance->leaving;
    const bool rising = instance->wanted > instance->level && !instance->leaving;
    if (rising || instance->running > 0) pauses_.crashed(instance->what(), data::now());
    if (rising) events.emplace_back(LoadFailed{.invoker = instance->invoker, .instance = instance->id, .error = error});
    for (const BatchId batch : batches_.drop(*instance)) events.emplace_back(BatchFailed{.id = batch, .error = error});
    if (!anew) events.emplace_back(InstanceUnloaded{.invoker = instance->invoker, .instance = instance->id});
  }
  for (const Instance* instance : process.instances) instances_.erase(InstanceId(instance->id));
  kept_.lose(process.id);
  auto gone = processes_.extract(ProcessId(process.id));
  if (end_at && process.session) {
    process.instances.clear();
    stop_watching(waker_, process.session->process());
    limits_.rest(process.id);
    lingering_.push_back({*end_at, std::move(gone.mapped())});
  } else {
    end(process);
  }
  publish();
  for (Event& event : events) hooks_.event(std::move(event));
  batches_.go_on();
}

// The books have its memory back before the system does; a process that was killed takes no more.
void Agent::end(Process& process) {
  if (!process.session) return;  // it is given up when it is there
  limits_.leave(process.id);
  stop_watching(waker_, process.session->process());
  const auto held = std::make_shared<Session>(std::move(*process.session));
  WorkerProcess worker = std::move(held->process());
  const VcpuLimit::Worker limited{process.id, process.tenant};
  ending_.end(std::move(worker), [this, limited, held] { limits_.clear(limited); });
}

// Loads whose time has come, and what hangs.
void Agent::look_at_clock() {
  const Time now = data::now();
  std::vector<ProcessId> hanging;
  std::vector<Batches::Stuck> stuck;
  bool risen = false;
  for (auto& [id, instance] : instances_) {
    if (instance->loaded && instance->ready_at && *instance->ready_at <= now) {
      instance->ready_at.reset();
      instance->level = instance->wanted;
      cold_start_of(*instance).ready.add(now - std::max(instance->since, instance->loaded_at));
      hooks_.event(InstanceLoaded{.invoker = instance->invoker,
                                  .instance = id,
                                  .level = instance->level,
                                  .measured = now - instance->since,
                                  .batches = instance->room()});
      risen = true;
    } else if ((!instance->loaded || instance->moving) && now - instance->since > options_.load_max) {
      hanging.push_back(instance->process->id);
    }
  }
  if (risen) publish();
  batches_.look_at_clock(now, stuck);
  if (const auto fetch = kept_.oldest_fetch(); fetch && now - fetch->since > options_.hang_least)
    hanging.push_back(fetch->process);
  for (const Batches::Stuck& one : stuck) {
    if (Process* process = find(one.process); process != nullptr && !process->closed)
      lose(*process, "did not answer in time", one.end_at);
  }
  std::erase_if(lingering_, [&](Lingering& one) {
    if (one.end_at > now) return false;
    end(*one.process);
    return true;
  });
  for (const auto& [id, process] : processes_) {
    if (process->make_at && *process->make_at <= now) spawn(*process);
    if (process->log_again && *process->log_again <= now) {
      process->log_again.reset();
      const int log = process->session->process().log.get();
      if (log >= 0) waker_.watch(log, key_of(id, Source::log));
    }
    if (process->closed && now - *process->closed > kEndMax) hanging.push_back(id);
    if (!process->idle || now - *process->idle < kRestAfter) continue;
    process->idle.reset();
    limits_.rest(id);
  }
  for (const ProcessId id : hanging) {
    Process* process = find(id);
    if (process == nullptr) continue;
    if (!process->closed) {
      lose(*process, "did not answer in time");
    } else if (now - *process->closed > kEndMax) {
      lose(*process, "closed its socket, or sent more than a message may have");
    }
  }
}

Time Agent::due() const {
  {
    const std::lock_guard lock(spawned_mutex_);
    if (!spawned_.empty()) return Time();
  }
  if (kept_.has_released()) return Time();
  Time next = batches_.due();
  if (const auto fetch = kept_.oldest_fetch()) next = std::min(next, fetch->since + options_.hang_least);
  for (const Lingering& one : lingering_) next = std::min(next, one.end_at);
  for (const auto& [id, instance] : instances_) {
    if (instance->loaded && instance->ready_at) next = std::min(next, *instance->ready_at);
    if (!instance->loaded || instance->moving) next = std::min(next, instance->since + options_.load_max);
  }
  for (const auto& [id, process] : processes_) {
    if (process->make_at) next = std::min(next, *process->make_at);
    if (process->log_again) next = std::min(next, *process->log_again);
    if (process->closed) next = std::min(next, *process->closed + kEndMax);
    if (process->idle) next = std::min(next, *process->idle + kRestAfter);
  }
  return next;
}

void Agent::publish() {
  stale_ = false;
  std::vector<WorkerStatus> status;
  for (const auto& [id, instance] : instances_) {
    const auto& session = instance->process->session;
    status.push_back({.instance = id,
                      .invoker = instance->invoker,
                      .tenant = applications_[instance->application].tenant,
                      .function = applications_.function(*instance).name,
                      .version = instance->version,
                      .pid = session ? session->process().pid : 0,
                      .level = shown_level(*instance),
                      .memory = instance->memory,
                      .on_gpu = instance->process->on_gpu,
                      .gpu = instance->gpu,
                      .form = instance->form,
                      .graphs = instance->graphs});
  }
  const std::lock_guard lock(status_mutex_);
  status_.swap(status);
}

std::vector<WorkerStatus> Agent::workers() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

std::vector<InstanceStatus> Agent::loaded(InvokerId invoker) const {
  std::vector<InstanceStatus> out;
  for (const auto& [id, instance] : instances_) {
    if (instance->invoker != invoker) continue;
    InstanceStatus& one = out.emplace_back(InstanceStatus{.id = id,
                                                          .application = instance->application,
                                                          .function = instance->function,
                                                          .level = instance->level,
                                                          .gpu = instance->gpu,
                                                          .batches = instance->room(),
                                                          .moving_to = {}});
    if (instance->leaving) one.moving_to = Level::none;
    if (!instance->leaving && instance->wanted != instance->level) one.moving_to = instance->wanted;
  }
  return out;
}

}  // namespace sluice::invoker
