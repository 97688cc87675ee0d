#include "live/platform.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>
#include <thread>

#include "base/text.h"
#include "data/clock.h"
#include "live/rejection.h"
#include "record/replay.h"

namespace sluice::live {
namespace {

constexpr const char* kStopping = "the server is stopping";

Answer stopping(RequestId id) {
  return {.request = id, .kind = AnswerKind::rejected, .reason = RejectReason::no_capacity, .error = kStopping};
}

// A function is known as an application of its own first (`APPLICATION.FUNCTION`): both are the same here.
std::vector<ColdStartStats> cold_of(const invoker::ColdStarts& starts) {
  std::map<std::tuple<std::string, std::string, std::string>, ColdStartStats> sums;
  for (const auto& [name, start] : starts) {
    std::string application = name.application;
    if (application.ends_with("." + name.function)) application.resize(application.size() - name.function.size() - 1);
    ColdStartStats& sum = sums[{name.tenant, application, name.function}];
    sum.tenant = name.tenant;
    sum.application = application;
    sum.function = name.function;
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

std::optional<OnGpu> on_gpu_of(const invoker::WorkerStatus& worker) {
  if (!worker.on_gpu) return std::nullopt;
  return OnGpu{.gpu = worker.gpu,
               .form = worker.form,
               .weights = worker.memory,
               .graphs = worker.graphs.kept,
               .kernel_by_kernel = worker.graphs.never};
}

GpuUse use_of(const invoker::GpuCounters& counted, std::uint32_t slices) {
  GpuUse out{.busy = {},
             .batches = counted.batches,
             .captures = counted.captures,
             .bytes_in = counted.bytes_in,
             .bytes_out = counted.bytes_out,
             .loads = counted.loads,
             .kept = counted.kept,
             .fetches = counted.fetches,
             .kept_bytes = counted.kept_bytes};
  for (std::size_t slice = 0; slice < std::min<std::size_t>(slices, counted.busy_ns.size()); ++slice)
    out.busy.push_back(Duration::ns(static_cast<std::int64_t>(counted.busy_ns[slice])));
  return out;
}

}  // namespace

Platform::Platform(PlatformOptions options)
    : options_(std::move(options)), arenas_({.all = options_.objects, .per_tenant = options_.objects_of_tenant}) {}

std::shared_ptr<data::Arena> Platform::arena(const std::string& tenant) {
  auto out = arenas_.of(tenant);
  return out ? std::move(*out) : nullptr;
}

Result<std::unique_ptr<Platform>> Platform::start(PlatformOptions options) {
  std::unique_ptr<Platform> out(new Platform(std::move(options)));
  if (const Status begun = out->begin(); !begun) return begun.error();
  return out;
}

Platform::~Platform() {
  if (profiling_) profiling_->stop();
  if (deployments_) deployments_->stop();
  if (journal_) journal_->stop();
  if (runner_) runner_->stop();
  if (machines_) agent().stop();
  if (writer_) writer_->stop();
}

Status Platform::begin() {
  auto store = store::Store::open(options_.directory, options_.store);
  if (!store) return store.error();
  auto identity = LocalIdentity::open(*store);
  if (!identity) return identity.error();
  identity_ = std::move(*identity);
  auto secret = store->secret("request_ids");
  if (!secret) return secret.error();
  id_secret_ = std::move(*secret);
  const auto own = arenas_.of(data::Arenas::kServer);  // also tells whether there is memory at all
  if (!own) return own.error();
  const auto epoch = store->next_epoch();
  if (!epoch) return epoch.error();
  constexpr int kIdsOfAStart = 40;  // bits
  next_id_ = (*epoch << kIdsOfAStart) + 1;
  auto applications = store->applications();
  if (!applications) return applications.error();
  const auto unfinished = store->unfinished_requests();
  if (!unfinished) return unfinished.error();
  const auto forms = store->get(forms_name());
  if (!forms) return forms.error();
  if (*forms) options_.agent.forms = invoker::gpu_forms_of(**forms);
  auto reader = store::Reader::open(options_.directory);
  if (!reader) return reader.error();
  reader_ = std::make_unique<store::Reader>(std::move(*reader));
  if (const Status made = make_runner(*epoch); !made) return made;
  if (const Status started = agent().start(); !started) return started;
  make_parts(std::move(*store), *unfinished);
  identity_->on_quota([this](const store::Tenant& tenant) { set_quota(tenant); });
  runner_->start();
  deployments_->restore(std::move(*applications));
  (void)settled_snapshot();  // whoever calls from now on finds what was deployed
  return Done{};
}

Status Platform::make_runner(std::uint64_t epoch) {
  const record::LogHeader header{
      .scheduler = options_.scheduler, .parameters = options_.parameters, .transfer = options_.transfer};
  auto scheduler = record::make_scheduler(header);
  if (!scheduler) return scheduler.error();
  const std::string events = options_.directory + "/events";
  std::error_code failed;
  std::filesystem::create_directories(events, failed);
  data::never_before(last_instant(events));
  auto log = EventLog::open({.directory = events,
                             .epoch = epoch,
                             .segment_bytes = options_.log_segment_bytes,
                             .bytes_max = options_.log_bytes_max},
                            header);
  if (!log) return log.error();
  machines_ = std::make_unique<invoker::AgentLink>(
      options_.agent, arenas_, objects_,
      invoker::AgentLink::Machines{.nodes = options_.nodes,
                                   .epoch = epoch,
                                   .note = [this](const Remark& remark) { say(remark); },
                                   .forms = [this](const invoker::GpuForms& forms) { keep_forms(forms); }});
  runner_ = std::make_unique<Runner>(
      std::move(*scheduler), std::move(*log), arenas_, Runner::Machines{*machines_, agent().waker()},
      Runner::Listeners{.forgotten = [this](ApplicationId) { deployments_->clean_up(); },
                        .describe = [this](Snapshot& snapshot) { describe(snapshot); },
                        .sampled = [this](FirstRequest request) { profiling_->measure(std::move(request)); },
                        .remark = [this](const Remark& remark) { say(remark); }},
      options_.mailbox_max);
  desk_ = std::make_unique<Desk>(*runner_, objects_, [this] { return runner_->snapshot(); });
  return Done{};
}

// What is best on one kind of GPU need not be on another.
std::string Platform::forms_name() const {
  const auto& gpus = options_.agent.gpus.devices;
  return str("gpu-forms ", gpus.empty() ? "" : gpus.front().name);
}

void Platform::keep_forms(const invoker::GpuForms& forms) {
  writer_->post([name = forms_name(), text = invoker::to_text(forms)](store::Store& s) { return s.set(name, text); },
                [](const Status&) {});
}

void Platform::make_parts(store::Store store, const std::vector<store::Request>& unfinished) {
  constexpr std::size_t kWaitingMax = 65'536;
  const auto told = [this](const Remark& remark) { say(remark); };
  writer_ = std::make_unique<store::Writer>(std::move(store), kWaitingMax);
  identity_->write_with(*writer_);
  Mailbox<Letter>& runner = runner_->mailbox();
  journal_ = std::make_unique<Journal>(Journal::Options{.say = told}, *writer_, *reader_, arenas_, *desk_, unfinished);
  profiling_ = std::make_unique<Profiling>(Profiling::Options{.spawner = options_.agent.spawner,
                                                              .vcpu_max = options_.nodes.front().vcpu,
                                                              .budget = options_.profile_budget,
                                                              .say = told},
                                           arenas_, *writer_, *reader_, runner);
  deployments_ = std::make_unique<Deployments>(
      Deployments::Options{.models = options_.directory + "/models",
                           .nodes = options_.nodes,
                           .derive = record::derives_of(
                               {.scheduler = options_.scheduler, .parameters = options_.parameters}, options_.nodes),
                           .tenant = [this](std::string_view name) { return identity_->tenant(name); },
                           .say = told,
                           .changed = [this] { journal_->applications_changed(*snapshot()); }},
      arenas_, *writer_, *profiling_, runner);
}

void Platform::say(const Remark& remark) const {
  if (options_.say) options_.say(remark);
}

void Platform::deploy(Deployment deployment, OnDeployed done) {
  deployments_->deploy(std::move(deployment), std::move(done));
}

void Platform::remove(Principal principal, std::string application, std::function<void(Status)> done) {
  const auto known = snapshot();
  const Model* model = known->find(principal.tenant, application);
  if (model == nullptr || model->is_function) {
    return done(Error{ErrorCode::not_found, str("there is no application '", application, "'")});
  }
  deployments_->remove(principal.tenant, application, std::move(done));
}

void Platform::change_version(Principal principal, VersionChange change, OnDeployed done) {
  const auto known = snapshot();
  const Model* model = known->find(principal.tenant, change.application);
  const auto refuse = [&](std::string why) { done(Error{ErrorCode::not_found, std::move(why)}); };
  if (model == nullptr || model->is_function) return refuse(str("there is no application '", change.application, "'"));
  if (change.kind == VersionChange::Kind::promote) {
    if (model->canary == nullptr)
      return refuse(str("application '", change.application, "' has no canary: deploy one with --canary 10%"));
    return deployments_->serve(principal.tenant, change.application, model->canary->model.version, false,
                               std::move(done));
  }
  if (!change.version && model->canary != nullptr)
    return deployments_->withdraw(principal.tenant, change.application, model->version, std::move(done));
  if (change.version == model->version && model->canary == nullptr) {
    return done(
        Error{ErrorCode::invalid, str("version ", model->version, " of '", change.application, "' serves already")});
  }
  deployments_->serve(principal.tenant, change.application, change.version, true, std::move(done));
}

// Requests are counted here; vCPUs and slices are the scheduler's to give, shared memory the arena's.
void Platform::set_quota(const store::Tenant& tenant) {
  if (!budgets_.set(tenant.name, tenant.quota)) return;
  arenas_.limit(tenant.name, tenant.quota.bytes);
  runner_->mailbox().post(
      Event(QuotaChanged{.tenant = tenant.name, .vcpu = tenant.quota.vcpu, .slices = tenant.quota.slices}));
}

std::optional<Answer> Platform::enter(Call& call, std::uint32_t rows) {
  const auto own = arena(call.principal.tenant);
  std::size_t bytes = own ? own->used() : 0;  // with its inputs, which are there already
  for (const data::Tensor& tensor : *call.inputs) bytes += own && tensor.block.is_in(*own) ? 0 : tensor.size;
  Budgets::Entered entered =
      budgets_.enter(call.principal.tenant, Bytes(static_cast<std::int64_t>(bytes)), rows, data::now());
  call.held = std::move(entered.held);
  if (!entered.over) return std::nullopt;
  Answer refused{.request = RequestId(next_id_.fetch_add(1)),
                 .kind = AnswerKind::rejected,
                 .reason = RejectReason::quota_exceeded,
                 .needed = entered.over->needed,
                 .available = entered.over->available,
                 .retry_after = entered.over->retry_after,
                 .error = std::move(entered.over->text)};
  note_refused(refused, call.application);
  return refused;
}

void Platform::note_refused(const Answer& answer, const std::string& application) {
  std::optional<std::uint64_t> before;
  {
    const std::lock_guard lock(refused_mutex_);
    before = refused_.pass(data::now());
  }
  if (!before) return;
  say({.component = "requests",
       .text = str("a request of '", application, "' was refused: ", rejection_text(answer, application),
                   not_listed(*before)),
       .request = answer.request.value(),
       .quiet = true});
}

Answer Platform::mailbox_full(RequestId id, std::size_t wanted, const std::string& application) {
  const auto max = static_cast<double>(runner_->mailbox().max());
  const Answer full{.request = id,
                    .kind = AnswerKind::rejected,
                    .reason = RejectReason::queue_full,
                    .needed = max + static_cast<double>(wanted),
                    .available = max};
  note_refused(full, application);
  return full;
}

RequestId Platform::call(Call call, OnAnswer answer) {
  const RequestId id(next_id_.fetch_add(1));
  if (draining_) return answer(stopping(id)), id;
  Desk::Errand errand{id, std::move(call), std::move(answer)};
  if (!desk_->call(errand)) errand.answer(mailbox_full(id, 1, errand.call.application));
  return id;
}

RequestId Platform::call_rows(Call call, std::vector<SharedInputs> rows, OnRow answer) {
  const RequestId first(next_id_.fetch_add(rows.size()));
  const auto id_of = [&](std::size_t row) { return RequestId(first.value() + row); };
  if (draining_) {
    for (std::size_t row = 0; row < rows.size(); ++row) answer(row, stopping(id_of(row)));
    return first;
  }
  const auto shared = std::make_shared<const OnRow>(std::move(answer));
  std::vector<Desk::Errand> errands;
  errands.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    call.inputs = std::move(rows[row]);
    errands.push_back({id_of(row), call, [shared, row](Answer given) { (*shared)(row, std::move(given)); }});
  }
  call.held = nullptr;  // the errands hold it
  if (desk_->call_together(errands)) return first;
  for (Desk::Errand& errand : errands) {
    if (errand.answer) errand.answer(mailbox_full(errand.id, errands.size(), errand.call.application));
  }
  return first;
}

void Platform::call_later(Call call, std::function<void(Result<RequestId>)> accepted) {
  if (draining_) return accepted(Error{ErrorCode::io, kStopping});
  const auto known = snapshot();
  const Model* model = known->find(call.principal.tenant, call.application);
  if (model == nullptr)
    return accepted(Error{ErrorCode::not_found, str("there is no application '", call.application, "'")});
  if (model->state == ModelState::unavailable)
    return accepted(Error{ErrorCode::unavailable, str("application '", call.application, "': ", model->reason)});
  call.application = model->application->name;  // an alias may be of something else after a restart
  if (!call.objective) call.objective = model->application->objective.latency;
  journal_->accept(RequestId(next_id_.fetch_add(1)), std::move(call), std::move(accepted));
}

void Platform::cancel(const Principal& principal, RequestId request) {
  if (journal_->cancel(principal, request)) return;
  desk_->cancel(principal, request);
}

bool Platform::drain(Duration most) {
  draining_ = true;
  journal_->pause();
  const Time until = data::now() + most;
  constexpr auto kLook = std::chrono::milliseconds(5);
  while (data::now() < until) {
    if (runner_->mailbox().size() == 0 && runner_->in_system() == 0) return true;
    std::this_thread::sleep_for(kLook);
  }
  return false;
}

void Platform::listening(std::string address) {
  const std::lock_guard lock(listening_mutex_);
  listening_.push_back(std::move(address));
}

std::shared_ptr<const Snapshot> Platform::settled_snapshot() {
  std::promise<void> settled;
  runner_->mailbox().post(Barrier{[&] { settled.set_value(); }});
  settled.get_future().wait();
  return snapshot();
}

std::vector<RequestRecord> Platform::requests(const Principal& principal, RequestQuery query) const {
  if (!principal.sees_everything()) query.tenant = principal.tenant;
  std::vector<RequestRecord> out = runner_->history().list(query);
  for (RequestRecord& record : journal_->list(query)) {
    const auto same = [&](const RequestRecord& r) { return r.id == record.id; };
    const auto recent = std::find_if(out.begin(), out.end(), same);
    if (recent == out.end()) {
      out.push_back(std::move(record));
    } else {  // it may wait in the journal after it was refused
      recent->state = record.state;
    }
  }
  std::sort(out.begin(), out.end(),
            [](const RequestRecord& a, const RequestRecord& b) { return a.arrival > b.arrival; });
  if (out.size() > query.limit) out.resize(query.limit);
  return out;
}

// What the journal says of an asynchronous request counts: its answer is there when it can be fetched.
std::optional<RequestRecord> Platform::find_request(const Principal& principal, RequestId request) const {
  auto recent = runner_->history().find(request);
  if (recent && !principal.sees(recent->tenant)) return std::nullopt;
  if (recent && !recent->asynchronous) return recent;
  auto kept = journal_->find(request);
  if (!kept || !principal.sees(kept->tenant)) return recent;
  if (recent) kept->stages = std::move(recent->stages);
  if (recent && kept->version == 0) kept->version = recent->version;  // it is under way
  return kept;
}

std::shared_ptr<const data::Tensors> Platform::outputs_of(const Principal& principal, RequestId request) const {
  const auto record = journal_->find(request);
  return record && principal.sees(record->tenant) ? journal_->outputs_of(request) : nullptr;
}

void Platform::describe(Snapshot& snapshot) const {
  snapshot.scheduler = options_.scheduler;
  snapshot.data_directory = options_.directory;
  {
    const std::lock_guard lock(listening_mutex_);
    snapshot.listening = listening_;
  }
  snapshot.waiting = journal_->waiting();
  const invoker::AgentCounters& counters = agent().counters();
  snapshot.bytes_out = counters.bytes_out;
  snapshot.bytes_gathered = counters.bytes_gathered;
  snapshot.gathers = counters.gathers;
  snapshot.batches = counters.batches;
  snapshot.cold_starts = counters.cold_starts;
  snapshot.worker_crashes = counters.crashes;
  snapshot.cold = cold_of(agent().cold_starts());
  for (const invoker::WorkerStatus& worker : agent().workers()) {
    if (worker.invoker.index() >= snapshot.nodes.size()) continue;
    snapshot.nodes[worker.invoker.index()].instances.push_back({.id = worker.instance,
                                                                .tenant = worker.tenant,
                                                                .function = worker.function,
                                                                .version = worker.version,
                                                                .level = worker.level,
                                                                .pid = worker.pid,
                                                                .on_gpu = on_gpu_of(worker)});
  }
  if (snapshot.nodes.size() == 1) {  // GPUs that are there are of this one machine
    std::vector<GpuInfo>& gpus = snapshot.nodes.front().gpus;
    for (std::size_t i = 0; i < std::min(gpus.size(), counters.gpus.size()); ++i)
      gpus[i].use = use_of(counters.gpus[i], gpus[i].slices);
  }
  for (NodeInfo& node : snapshot.nodes) {
    node.vcpu_enforced = agent().limits().describe_cpu();
    node.memory_enforced = agent().limits().describe_memory();
    if (options_.agent.spawner.quarters != nullptr) node.workers_enforced = options_.agent.spawner.quarters->describe();
    node.gpu_enforced = node.gpus.empty() ? "no GPU" : options_.agent.gpus.describe();
  }
}

}  // namespace sluice::live
