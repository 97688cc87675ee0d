#include "live/platform.h"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>
#include <thread>

#include "base/text.h"
#include "data/clock.h"
#include "invoker/profiler.h"
#include "policy/catalog.h"
#include "record/replay.h"
#include "spec/profile_csv.h"
#include "store/tensor_blob.h"

namespace sluice::live {
namespace {

constexpr const char* kStopping = "the server is stopping";

store::State stored(RequestState state) {
  return static_cast<store::State>(state);
}

RequestState state_of(const Answer& answer) {
  switch (answer.kind) {
    case AnswerKind::finished:
      return answer.slack >= Duration{} ? RequestState::met : RequestState::late;
    case AnswerKind::rejected:
      return RequestState::rejected;
    case AnswerKind::cancelled:
      return RequestState::cancelled;
    case AnswerKind::failed:
    case AnswerKind::deadline_exceeded:
      return RequestState::failed;
  }
  return RequestState::failed;
}

RequestRecord record_of(const store::RequestRecord& kept) {
  return {.id = kept.request.id,
          .application = kept.request.application,
          .caller_id = kept.request.caller_id,
          .version = kept.answer.version,
          .arrival = kept.request.arrival,
          .deadline = kept.request.arrival + kept.request.objective,
          .finished = kept.answer.finished,
          .state = static_cast<RequestState>(kept.answer.state),
          .asynchronous = true,
          .cost = kept.answer.cost,
          .stage = kept.answer.stage,
          .error = kept.answer.error};
}

// A function is known as an application of its own first (`APPLICATION.FUNCTION`): both are the same here.
std::vector<ColdStartStats> cold_of(const invoker::ColdStarts& starts) {
  std::map<std::pair<std::string, std::string>, ColdStartStats> sums;
  for (const auto& [name, start] : starts) {
    std::string application = name.first;
    const std::string& function = name.second;
    if (application.ends_with("." + function)) application.resize(application.size() - function.size() - 1);
    ColdStartStats& sum = sums[{application, function}];
    sum.application = application;
    sum.function = function;
    const auto add = [](Counted& counted, const invoker::ColdStart::Phase& phase) {
      counted.count += phase.count;
      counted.ns += static_cast<std::uint64_t>(phase.time.count_ns());
    };
    add(sum.process, start.process);
    add(sum.load, start.load);
    add(sum.ready, start.ready);
  }
  std::vector<ColdStartStats> out;
  for (auto& [name, sum] : sums) out.push_back(std::move(sum));
  return out;
}

}  // namespace

Platform::Platform(PlatformOptions options) : options_(std::move(options)) {}

Result<std::unique_ptr<Platform>> Platform::start(PlatformOptions options) {
  std::unique_ptr<Platform> out(new Platform(std::move(options)));
  if (const Status begun = out->begin(); !begun) return begun.error();
  return out;
}

Platform::~Platform() {
  stopping_ = true;
  if (profiler_) profiler_->stop();
  if (deployer_) deployer_->stop();
  if (runner_) runner_->stop();
  if (agent_) agent_->stop();
  if (writer_) writer_->stop();
}

Status Platform::begin() {
  auto store = store::Store::open(options_.directory, options_.store);
  if (!store) return store.error();
  auto arena = data::Arena::make(options_.objects);
  if (!arena) return arena.error();
  arena_ = std::move(*arena);
  const auto epoch = store->next_epoch();
  if (!epoch) return epoch.error();
  constexpr int kIdsOfAStart = 40;  // bits
  next_id_ = (*epoch << kIdsOfAStart) + 1;
  auto applications = store->applications();
  if (!applications) return applications.error();
  if (const Status begun = begin_runner(*epoch); !begun) return begun;
  deployer_ = std::make_unique<invoker::TaskThread>();
  profiler_ = std::make_unique<invoker::TaskThread>();
  auto reader = store::Reader::open(options_.directory);
  if (!reader) return reader.error();
  reader_ = std::make_unique<store::Reader>(std::move(*reader));
  const auto unfinished = store->unfinished_requests();
  if (!unfinished) return unfinished.error();
  std::vector<std::string> inputs;
  for (const store::Request& request : *unfinished) {
    auto blob = store->inputs_of(request.id);
    if (!blob) return blob.error();
    inputs.push_back(blob->value_or(""));
  }
  if (const Status restored = restore(std::move(*applications), *store); !restored) return restored;
  writer_ = std::make_unique<store::Writer>(std::move(*store), 65'536);
  for (std::size_t i = 0; i < unfinished->size(); ++i) {
    const store::Request& request = (*unfinished)[i];
    auto tensors = store::from_blob(inputs[i], *arena_);
    if (!tensors) {
      write_answer(request.id,
                   {.state = store::State::failed, .finished = data::now(), .error = tensors.error().message}, "");
      continue;
    }
    // With its whole objective again: the time while nobody served is not held against it.
    let_in(request.id, {.application = request.application,
                        .inputs = std::make_shared<const data::Tensors>(std::move(*tensors)),
                        .objective = request.objective,
                        .timeout = request.timeout,
                        .priority = request.priority,
                        .caller_id = request.caller_id});
  }
  return Done{};
}

Status Platform::begin_runner(std::uint64_t epoch) {
  const record::LogHeader header{
      .scheduler = options_.scheduler, .parameters = options_.parameters, .transfer = options_.transfer};
  auto scheduler = record::make_scheduler(header);
  if (!scheduler) return scheduler.error();
  const std::string events = options_.directory + "/events";
  std::error_code failed;
  std::filesystem::create_directories(events, failed);
  auto log = EventLog::open({.directory = events, .epoch = epoch}, header);
  if (!log) return log.error();
  agent_ = std::make_unique<invoker::Agent>(
      options_.agent, arena_, objects_,
      invoker::AgentHooks{
          .event = [this](Event event) { runner_->happened(std::move(event)); },
          .log = [this](BatchId batch, const std::string& line) { runner_->history().log(batch, line); }});
  runner_ = std::make_unique<Runner>(
      std::move(*scheduler), std::move(*log), arena_, objects_,
      Runner::Outside{.deploy =
                          [this](ApplicationId id, std::shared_ptr<const Application> application) {
                            agent_->deploy(id, std::move(application));
                          },
                      .forget =
                          [this](ApplicationId id) {
                            agent_->forget(id);
                            // Its plans were many small pieces, which the heap would keep.
                            deployer_->post([] { ::malloc_trim(0); });
                          },
                      .act = [this](Command& command) { agent_->act(command); },
                      .look = [this] { agent_->look(); },
                      .listen = [this](std::optional<Time> until) { agent_->listen(until); },
                      .wait = [this] { agent_->waker().wait(); },
                      .ring = [this] { agent_->waker().ring(); },
                      .describe = [this](Snapshot& snapshot) { describe(snapshot); },
                      .trouble =
                          [this](const std::string& line) {
                            if (options_.say) options_.say(line);
                          }},
      options_.mailbox_max);
  if (const Status started = agent_->start(); !started) return started;
  std::uint32_t next = 0;
  for (const NodeGroup& group : options_.nodes) {
    NodeGroup one = group;
    one.count = 1;
    for (std::uint32_t i = 0; i < group.count; ++i) {
      runner_->mailbox().post(Event(InvokerJoined{.id = InvokerId(next++), .epoch = epoch, .capacity = one}));
    }
  }
  runner_->start();
  return Done{};
}

// What does not deploy any more (another machine, other limits) is told and left out; it stays in the store.
Status Platform::restore(std::vector<store::DeployedApplication> applications, store::Store& store) {
  for (store::DeployedApplication& application : applications) {
    Deployment deployment{.main = application.main};
    for (store::File& file : application.files) deployment.files.push_back({file.path, std::move(file.content)});
    const FindProfile find = [&](std::uint64_t key) -> std::optional<Profile> {
      auto rows = store.profile(key);
      if (!rows || !*rows) return std::nullopt;
      auto csv = spec::read_profile_csv(**rows);
      if (!csv.ok()) return std::nullopt;
      return Profile(std::move(csv.table));
    };
    auto prepared = prepare(deployment, models_folder(), options_.nodes, find);
    if (prepared) {
      install(std::move(*prepared), application.version);
    } else if (options_.say) {
      options_.say(str("application '", application.name, "' is UNAVAILABLE: ", prepared.error().message));
    }
  }
  return Done{};
}

// The application itself and each of its functions alone.
void Platform::install(Prepared prepared, std::uint32_t version) {
  const std::string reason = prepared.unprofiled.empty() ? "" : "being profiled; runs one at a time meanwhile";
  auto application = std::make_shared<const Application>(std::move(prepared.application));
  for (Application& alone : functions_alone(*application)) {
    runner_->mailbox().post(Deploying{.application = std::make_shared<const Application>(std::move(alone)),
                                      .version = version,
                                      .is_function = true,
                                      .reason = reason});
  }
  runner_->mailbox().post(Deploying{.application = application, .version = version, .reason = reason});
  if (prepared.unprofiled.empty()) return;
  profiler_->post([this, application, functions = prepared.unprofiled] { measure(*application, functions); });
}

void Platform::measure(const Application& application, const std::vector<Unprofiled>& functions) {
  invoker::Spawner spawner(options_.agent.spawner);
  for (const Unprofiled& wanted : functions) {
    const Function& function = application.functions[wanted.function];
    invoker::ProfilePlan plan{.budget = options_.profile_budget};
    for (std::uint16_t v = 2; v <= options_.nodes.front().vcpu && v <= 8; v = static_cast<std::uint16_t>(v * 2))
      plan.vcpu.push_back(v);
    const auto table =
        invoker::measure(function, plan, spawner, arena_, [this](const auto&) { return !stopping_.load(); });
    if (stopping_) return;
    if (!table) {
      if (options_.say) options_.say(str("function '", function.name, "' was not profiled: ", table.error().message));
      continue;
    }
    {
      const std::lock_guard lock(profiles_mutex_);
      profiles_[wanted.key] = *table;
    }
    writer_->post(
        [key = wanted.key, csv = spec::write_profile_csv(*table)](store::Store& s) { return s.put_profile(key, csv); },
        [](const Status&) {});
    runner_->mailbox().post(Profiled{application.name, function.name, std::make_shared<const Profile>(*table)});
    if (options_.say)
      options_.say(str("function '", function.name, "' is profiled: ", table->rows.size(), " configurations"));
  }
}

FindProfile Platform::profiles() const {
  return [this](std::uint64_t key) -> std::optional<Profile> {
    const std::lock_guard lock(profiles_mutex_);
    const auto it = profiles_.find(key);
    return it == profiles_.end() ? std::nullopt : std::optional(it->second);
  };
}

void Platform::deploy(Deployment deployment, OnDeployed done) {
  deployer_->post([this, deployment = std::move(deployment), done = std::move(done)] {
    auto prepared = prepare(deployment, models_folder(), options_.nodes, profiles());
    if (!prepared) return done(prepared.error());
    Deployed answer{.application = prepared->application.name, .messages = prepared->messages, .fits = prepared->fits};
    if (deployment.dry_run) return done(std::move(answer));
    std::vector<store::File> files;
    for (const Deployment::File& file : deployment.files) files.push_back({file.path, file.content});
    auto version = std::make_shared<Result<std::uint32_t>>(Error{});
    auto ready = std::make_shared<Prepared>(std::move(*prepared));
    writer_->post(
        [version, name = answer.application, main = deployment.main, files](store::Store& s) -> Status {
          *version = s.put_application(name, main, files, data::now());
          if (!*version) return version->error();
          return Done{};
        },
        [this, version, ready, answer, done](const Status& status) mutable {
          if (!status) return done(status.error());
          answer.version = version->value();
          install(std::move(*ready), answer.version);
          // After what was posted before: whoever hears of it can call it.
          runner_->mailbox().post(Removing{"", [done, answer](bool) { done(answer); }});
        });
  });
}

void Platform::remove(std::string application, std::function<void(Status)> done) {
  const auto known = snapshot();
  const Model* model = known->find(application);
  if (model == nullptr || model->is_function) {
    return done(Error{ErrorCode::not_found, str("there is no application '", application, "'")});
  }
  std::vector<std::string> names{application};
  for (const Function& function : model->application->functions) names.push_back(str(application, ".", function.name));
  writer_->post([application](store::Store& s) { return s.remove_application(application); },
                [this, names, done](const Status& status) {
                  if (!status) return done(status);
                  for (std::size_t i = 0; i < names.size(); ++i) {
                    const bool last = i + 1 == names.size();
                    runner_->mailbox().post(Removing{names[i], [last, done](bool) {
                                                       if (last) done(Done{});
                                                     }});
                  }
                });
}

Status Platform::submit(Arriving arriving) {
  if (runner_->mailbox().offer(Letter(std::move(arriving)))) return Done{};
  return Error{ErrorCode::unavailable, "full"};
}

RequestId Platform::call(Call call, OnAnswer answer) {
  const RequestId id(next_id_.fetch_add(1));
  if (draining_) {
    answer({.request = id, .kind = AnswerKind::rejected, .reason = RejectReason::no_capacity, .error = kStopping});
    return id;
  }
  Letter letter(Arriving{id, std::move(call), std::move(answer)});
  if (runner_->mailbox().offer(std::move(letter))) return id;
  const auto max = static_cast<double>(runner_->mailbox().max());
  std::get<Arriving>(letter).answer({.request = id,
                                     .kind = AnswerKind::rejected,
                                     .reason = RejectReason::queue_full,
                                     .needed = max + 1,
                                     .available = max});
  return id;
}

void Platform::call_later(Call call, std::function<void(Result<RequestId>)> accepted) {
  if (draining_) return accepted(Error{ErrorCode::io, kStopping});
  const auto known = snapshot();
  const Model* model = known->find(call.application);
  if (model == nullptr)
    return accepted(Error{ErrorCode::not_found, str("there is no application '", call.application, "'")});
  const RequestId id(next_id_.fetch_add(1));
  store::Request request{.id = id,
                         .application = call.application,
                         .arrival = data::now(),
                         .objective = call.objective.value_or(model->application->objective.latency),
                         .timeout = call.timeout,
                         .priority = call.priority,
                         .caller_id = call.caller_id};
  call.objective = request.objective;
  auto blob = std::make_shared<std::string>(store::to_blob(*call.inputs));
  writer_->post([request, blob](store::Store& s) { return s.put_request(request, *blob); },
                [this, id, call, accepted](const Status& status) {
                  if (!status) return accepted(status.error());
                  accepted(id);
                  let_in(id, call);
                });
}

void Platform::let_in(RequestId id, Call call) {
  const Status submitted =
      submit({id, std::move(call), [this, id](const Answer& answer) { finish_later(id, answer); }, true});
  if (!submitted) finish_later(id, {.request = id, .kind = AnswerKind::rejected, .error = "the mailbox is full"});
}

void Platform::finish_later(RequestId id, const Answer& answer) {
  write_answer(id,
               {.state = stored(state_of(answer)),
                .finished = data::now(),
                .cost = answer.cost,
                .stage = answer.stage,
                .error = answer.error,
                .version = answer.version},
               answer.kind == AnswerKind::finished ? store::to_blob(answer.outputs) : std::string());
}

// An answer must not be lost because the writer is busy or the disk is full: it is tried again after the next that is
// kept.
void Platform::write_answer(RequestId id, store::Answer answer, std::string outputs) {
  auto kept = std::make_shared<std::pair<store::Answer, std::string>>(std::move(answer), std::move(outputs));
  writer_->post([id, kept](store::Store& s) { return s.finish_request(id, kept->first, kept->second); },
                [this, id, kept](const Status& status) {
                  std::vector<std::function<void()>> again;
                  {
                    const std::lock_guard lock(unwritten_mutex_);
                    const bool passes = !status && (status.error().code == ErrorCode::unavailable ||
                                                    status.error().code == ErrorCode::io);
                    if (passes) {
                      unwritten_.push_back([this, id, kept] { write_answer(id, kept->first, kept->second); });
                    } else {
                      again.swap(unwritten_);
                    }
                  }
                  for (auto& task : again) task();
                });
}

void Platform::cancel(RequestId request) {
  runner_->mailbox().post(Event(RequestCancelled{request}));
}

bool Platform::drain(Duration most) {
  draining_ = true;
  const Time until = data::now() + most;
  constexpr auto kLook = std::chrono::milliseconds(5);
  while (data::now() < until) {
    if (runner_->mailbox().size() == 0 && runner_->in_system() == 0) return true;
    std::this_thread::sleep_for(kLook);
  }
  return false;
}

void Platform::listening(std::string address) {
  const std::lock_guard lock(profiles_mutex_);
  listening_.push_back(std::move(address));
}

std::shared_ptr<const Snapshot> Platform::settled_snapshot() {
  std::promise<void> settled;
  runner_->mailbox().post(Removing{"", [&](bool) { settled.set_value(); }});
  settled.get_future().wait();
  return snapshot();
}

std::vector<RequestRecord> Platform::requests(const RequestQuery& query) const {
  std::vector<RequestRecord> out = runner_->history().list(query);
  store::RequestQuery kept{.application = query.application, .limit = query.limit};
  if (query.state) kept.state = stored(*query.state);
  const auto older = reader_->list(kept);
  if (!older) return out;
  for (const store::RequestRecord& record : *older) {
    const auto same = [&](const RequestRecord& r) { return r.id == record.request.id; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(record_of(record));
  }
  std::sort(out.begin(), out.end(),
            [](const RequestRecord& a, const RequestRecord& b) { return a.arrival > b.arrival; });
  if (out.size() > query.limit) out.resize(query.limit);
  return out;
}

// What the journal says of an asynchronous request counts: its answer is there when it can be fetched.
std::optional<RequestRecord> Platform::find_request(RequestId request) const {
  auto recent = runner_->history().find(request);
  if (recent && !recent->asynchronous) return recent;
  const auto kept = reader_->find(request);
  if (!kept || !*kept) return recent;
  RequestRecord out = record_of(**kept);
  if (recent) out.stages = std::move(recent->stages);
  if (recent && out.version == 0) out.version = recent->version;  // it is under way
  return out;
}

std::shared_ptr<const data::Tensors> Platform::outputs_of(RequestId request) const {
  const auto blob = reader_->outputs_of(request);
  if (!blob || !*blob) return nullptr;
  auto tensors = store::from_blob(**blob, *arena_);
  return tensors ? std::make_shared<const data::Tensors>(std::move(*tensors)) : nullptr;
}

void Platform::describe(Snapshot& snapshot) const {
  snapshot.scheduler = options_.scheduler;
  snapshot.data_directory = options_.directory;
  {
    const std::lock_guard lock(profiles_mutex_);
    snapshot.listening = listening_;
  }
  const invoker::AgentCounters& counters = agent_->counters();
  snapshot.bytes_out = counters.bytes_out;
  snapshot.bytes_gathered = counters.bytes_gathered;
  snapshot.gathers = counters.gathers;
  snapshot.batches = counters.batches;
  snapshot.cold_starts = counters.cold_starts;
  snapshot.worker_crashes = counters.crashes;
  snapshot.cold = cold_of(agent_->cold_starts());
  for (const invoker::WorkerStatus& worker : agent_->workers()) {
    if (worker.invoker.index() >= snapshot.nodes.size()) continue;
    snapshot.nodes[worker.invoker.index()].instances.push_back({.id = worker.instance,
                                                                .function = worker.function,
                                                                .level = worker.loaded ? Level::host : Level::process,
                                                                .pid = worker.pid});
  }
  for (NodeInfo& node : snapshot.nodes) {
    node.vcpu_enforced = agent_->limits().describe_cpu();
    node.memory_enforced = agent_->limits().describe_memory();
    node.gpu_enforced = node.gpus.empty() ? "no GPU" : "emulated";
  }
}

}  // namespace sluice::live
