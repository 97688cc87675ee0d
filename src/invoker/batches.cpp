#include "invoker/batches.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "data/clock.h"
#include "data/tensor_blob.h"
#include "domain/run_path.h"
#include "invoker/gather.h"
#include "invoker/worker_end.h"

namespace sluice::invoker {
namespace {

constexpr std::size_t kLogBytesMax = 64u << 10;  // of one batch; the rest is dropped

InvocationResult failed(const BatchMember& member, const std::string& error) {
  return {.id = member.invocation, .outcome = Outcome::failed, .error = error};
}

}  // namespace

Batches::Batches(Patience patience, std::uint64_t seed, Parts parts, Hooks hooks)
    : patience_(patience),
      luck_(seed),
      parts_(parts),
      hooks_(std::move(hooks)),
      reads_(parts_.applications, parts_.objects, parts_.others,
             {.inputs_read = [this](Running& batch) { begin(batch); },
              .conditions_read = [this](Running& batch) { tell_finished(batch); },
              .event = [this](Event event) { hooks_.event(std::move(event)); }}) {}

void Batches::start(StartBatch& command, Instance* instance) {
  if (running_.contains(command.id) || answered_.contains(command.id)) return;  // delivered twice
  const bool there = instance != nullptr && instance->loaded && !instance->leaving;
  const bool follows = !has_turn(command);
  if (!there || (follows ? instance->following : instance->running - instance->following) >= instance->batches) {
    const std::string& name = parts_.applications.function(command.application, command.function).name;
    return hooks_.event(
        BatchFailed{.id = command.id,
                    .error = str("WorkerFailed: the worker of function '", name, "' is ", there ? "busy" : "gone")});
  }
  const Time now = data::now();
  if (now > command.latest) {
    answered_.add(command.id);
    return hooks_.event(BatchExpired{.id = command.id});
  }
  Running& running = *running_.emplace(command.id, std::make_unique<Running>()).first->second;
  running.start = std::move(command);
  running.instance = instance;
  const BatchMember& first = running.start.members.front();
  running.timeout = workflow_of(parts_.applications[running.start.application], first.path).at(first.stage).timeout;
  Process& process = *instance->process;
  ++instance->running;
  ++process.running;
  process.idle.reset();
  running.follows = true;
  ++instance->following;
  if (!follows) take_turn(running, now);
  reads_.read_inputs(running);
}

bool Batches::has_turn(StartBatch& start) const {
  std::erase_if(start.after, [&](BatchId before) { return !running_.contains(before); });
  return start.after.empty();
}

void Batches::take_turn(Running& batch, Time now) {
  batch.follows = false;
  --batch.instance->following;
  batch.began = batch.told = now;
  batch.instance->process->vcpus += batch.start.configuration.vcpu;
}

// Inputs of a batch that follows others are read and fetched while those run. REQUIRES: every member has its inputs, or
// a result that says why not.
void Batches::begin(Running& batch) {
  if (!brings_kept(batch)) return;
  batch.reads = batch.follows;
  batch.waiting = batch.follows ? 1 : 0;
  if (batch.follows) return;
  std::vector<std::uint32_t> whole;
  for (std::uint32_t m = 0; m < batch.inputs.size(); ++m) {
    if (batch.results[m].outcome == Outcome::succeeded) whole.push_back(m);
  }
  std::vector<data::Tensors> ready;  // only where some have no inputs
  const bool all = whole.size() == batch.inputs.size();
  for (std::size_t i = 0; i < whole.size() && !all; ++i) ready.push_back(batch.inputs[whole[i]]);
  batch.groups = stackable(all ? batch.inputs : ready);
  for (auto& group : batch.groups) {
    for (std::uint32_t& member : group) member = whole[member];
  }
  std::reverse(batch.groups.begin(), batch.groups.end());
  const Process& process = *batch.instance->process;
  parts_.limits.set(process.id, process.vcpus);
  next_group(batch);
}

// What was lost is made again: the scheduler hears of it as of an object of another machine.
bool Batches::brings_kept(Running& batch) {
  bool later = false;
  for (std::size_t m = 0; m < batch.inputs.size(); ++m) {
    const BatchMember& member = batch.start.members[m];
    for (const data::Tensor& tensor : batch.inputs[m]) {
      const auto readiness = parts_.kept.bring(tensor, *batch.instance->process);
      later |= readiness == KeptCopies::Readiness::later;
      if (readiness != KeptCopies::Readiness::lost) continue;
      hooks_.event(ObjectLost{.invoker = tensor.kept->place().invoker, .request = member.request});
      batch.results[m] = {.id = member.invocation, .outcome = Outcome::not_run, .error = "ObjectLost"};
      batch.inputs[m].clear();
      break;
    }
  }
  if (batch.waits_for_kept && !later) batch.told = data::now();
  batch.waits_for_kept = batch.reads = later;
  batch.waiting = later ? 1 : 0;
  return !later;
}

void Batches::go_on() {
  std::vector<BatchId> waiting;
  for (const auto& [id, batch] : running_) {
    const bool turn = batch->follows && has_turn(batch->start);
    if (turn) take_turn(*batch, data::now());
    const bool has_inputs = batch->reads && batch->waits_for.empty();
    if (batch->waits_for_kept || (turn && has_inputs)) waiting.push_back(id);
  }
  // The end of one may be that of others.
  for (const BatchId id : waiting) {
    if (const auto it = running_.find(id); it != running_.end()) begin(*it->second);
  }
}

// Not while samples are wanted: they are made of inputs.
bool Batches::may_keep(const Running& batch) const {
  return parts_.keeps && batch.instance->process->on_gpu && samples_wanted_.empty() &&
         std::ranges::all_of(batch.start.members, [&](const BatchMember& member) {
           return member.path.empty() && parts_.applications.keeps(batch.start.application, member.stage);
         });
}

// A batch that has not begun does not run, one that runs stops where its engine can. Else it runs to its end: a worker
// cannot be stopped within one without ending it.
void Batches::cancel(const CancelBatch& command) {
  const auto it = running_.find(command.id);
  if (it == running_.end()) return;  // over
  Running& batch = *it->second;
  if (!batch.cancelled) batch.cancelled = data::now();
  if (batch.reads) return fail(batch, "Cancelled");
  if (batch.waiting > 0) return;  // it has run
  Process& process = *batch.instance->process;
  if (!process.session->cancel(command.id.value()) && !process.session->hung_up()) {
    hooks_.lose(process, "does not read what it is told");
  }
}

// Emulated functions take what their profile says, with its spread.
Duration Batches::emulated_time(const StartBatch& start, std::uint32_t rows) {
  const profile::FunctionProfile* profile = parts_.applications.profile(start.application, start.function);
  if (profile == nullptr) return {};
  Configuration asked = start.configuration;
  asked.batch = static_cast<std::uint16_t>(rows);
  const profile::Latency latency = profile->latency(asked);
  constexpr double kWidest = 3;  // standard deviations
  return Duration::ms(latency.at_deviations_ms(std::clamp(luck_.normal(), -kWidest, kWidest)));
}

void Batches::next_group(Running& batch) {
  if (batch.groups.empty()) {
    ++parts_.counters.batches;
    return reads_.look_at_conditions(batch);
  }
  if (batch.cancelled) return fail(batch, "Cancelled");
  Instance& instance = *batch.instance;
  Process& process = *instance.process;
  Session& session = *process.session;
  batch.group = std::move(batch.groups.back());
  batch.groups.pop_back();
  std::vector<const data::Tensors*> members;
  for (const std::uint32_t m : batch.group) members.push_back(&batch.inputs[m]);
  const auto rows = static_cast<std::uint32_t>(members.size());
  auto gathered = process.on_gpu ? Result(as_they_lie(members, process.id)) : gather(members, session.arena());
  auto space = session.space_of(instance.outputs.space_for(rows));
  if (!gathered || !space) {
    return skip_group(batch, str(kObjectStoreFull, ": ", gathered ? "no room for outputs" : gathered.error().message));
  }
  if (gathered->copied > 0) ++parts_.counters.gathers;
  parts_.counters.bytes_gathered += gathered->copied;
  const Status told = session.run({.batch = batch.start.id.value(),
                                   .function = instance.number,
                                   .rows = rows,
                                   .threads = std::max<std::uint32_t>(1, batch.start.configuration.vcpu),
                                   .emulated = emulated_time(batch.start, rows),
                                   .deadline = batch.start.latest,
                                   .positions = batch.start.positions,
                                   .inputs = std::move(gathered->inputs),
                                   .keep = may_keep(batch)},
                                  std::move(*space), std::move(gathered->held));
  if (told || session.hung_up()) return;  // if it has ended, that is heard next
  if (told.error().code == ErrorCode::too_large)
    return skip_group(batch, told.error().message);  // inputs of many parts
  hooks_.lose(process, "does not read what it is told");
}

void Batches::skip_group(Running& batch, const std::string& error) {
  for (const std::uint32_t m : batch.group) batch.results[m] = failed(batch.start.members[m], error);
  next_group(batch);
}

void Batches::take(Process& process, Session::Answer& answer) {
  const auto it = running_.find(BatchId(answer.ran.batch));
  CHECK(it != running_.end());  // the session knows what was asked
  Running& batch = *it->second;
  if (answer.ran.cancelled) return fail(batch, "Cancelled");
  const Function& function = parts_.applications.function(batch.start.application, batch.start.function);
  if (program_ended(answer.ran.error)) explain_end(process, answer.ran.error);
  const auto kept = [&](const wire::Placed& output) { return parts_.kept.keep(process, answer.space, output); };
  auto rows = results_of(answer.ran, static_cast<std::uint32_t>(batch.group.size()), answer.space, function, kept);
  if (!rows) {
    process.session->retain(std::move(answer.space));
    return hooks_.lose(process, rows.error().message);
  }
  // It is learned from, so no worker can say more than the time that passed.
  batch.measured += std::clamp(answer.ran.took, Duration{}, data::now() - batch.began - batch.measured);
  batch.first |= answer.ran.first;
  if (process.on_gpu) count_on_gpu(batch, answer.ran);
  keep(batch, *rows);
  next_group(batch);
}

// What the device says is no longer than what was measured. REQUIRES: that is counted already.
void Batches::count_on_gpu(Running& batch, const wire::Ran& ran) {
  GpuCounters& gpu = parts_.counters.gpus[batch.instance->process->gpu];
  const Duration busy = std::clamp(ran.on_device, Duration{}, batch.measured - batch.on_device);
  batch.on_device += busy;
  for (std::size_t slice = 0; slice < gpu.busy_ns.size(); ++slice) {
    if ((batch.start.positions.slices >> slice & 1) != 0)
      gpu.busy_ns[slice] += static_cast<std::uint64_t>(busy.count_ns());
  }
  ++gpu.batches;
  if (ran.graphs.captured) ++gpu.captures;
  for (const std::uint32_t m : batch.group) {
    for (const data::Tensor& tensor : batch.inputs[m]) {
      const bool there = tensor.kept != nullptr && tensor.kept->place().keeper == batch.instance->process->id.value();
      gpu.bytes_in += there ? 0 : tensor.size;
    }
  }
  for (const wire::Placed& output : ran.outputs) gpu.bytes_out += output.device == wire::kHost ? output.size : 0;
  if (!ran.error.empty()) return;  // nothing is said of graphs then
  const GraphUse now{.kept = ran.graphs.kept, .never = ran.graphs.never};
  if (batch.instance->graphs == now) return;
  batch.instance->graphs = now;
  hooks_.changed();
}

void Batches::explain_end(Process& process, std::string& error) const {
  hooks_.ending(process);  // what it printed is read
  const std::int64_t kills = process.memory_by_group ? parts_.limits.memory_kills({process.id, process.tenant}) : 0;
  if (const auto most = process.memory_max(); most && kills > process.memory_kills) {
    error += str(": it ", over_memory(*most));
  }
  process.memory_kills = std::max(process.memory_kills, kills);
  error = with_last_line(error, process.log.last_line());
}

void Batches::keep(Running& batch, std::vector<RowResult>& rows) {
  std::size_t largest = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const BatchMember& member = batch.start.members[batch.group[r]];
    InvocationResult& result = batch.results[batch.group[r]];
    RowResult& row = rows[r];
    if (!row.error.empty()) {
      result = failed(member, row.error);
      continue;
    }
    std::size_t bytes = 0;
    for (const data::Tensor& tensor : row.outputs) bytes += tensor.size + data::Arena::kAlignment;
    largest = std::max(largest, bytes);
    result.bytes = Bytes(static_cast<std::int64_t>(bytes));
    parts_.counters.bytes_out += bytes;
    parts_.objects.put(member.request, {member.outermost(), member.stage, member.item, member.path},
                       std::make_shared<const data::Tensors>(std::move(row.outputs)));
  }
  batch.instance->outputs.seen(largest);
}

void Batches::want_sample(ApplicationId application, FunctionId function, bool wanted) {
  if (wanted)
    samples_wanted_.emplace(application, function);
  else
    samples_wanted_.erase({application, function});
}

void Batches::forget(ApplicationId application) {
  std::erase_if(samples_wanted_, [&](const auto& wanted) { return wanted.first == application; });
}

void Batches::give_sample(const Running& batch) {
  const std::pair of(batch.start.application, batch.start.function);
  if (!hooks_.sample || !samples_wanted_.contains(of)) return;
  for (std::size_t m = 0; m < batch.results.size(); ++m) {
    const auto elsewhere = [](const data::Tensor& t) { return t.kept != nullptr && !t.kept->fetched(); };
    if (batch.results[m].outcome != Outcome::succeeded || std::ranges::any_of(batch.inputs[m], elsewhere)) continue;
    bus::Sampled sample{.application = of.first, .function = of.second, .bytes = 0, .inputs = {}};
    for (const data::Tensor& tensor : batch.inputs[m]) sample.bytes += tensor.size;
    if (sample.bytes <= bus::sample_bytes_max) sample.inputs = data::to_blob(batch.inputs[m]);
    samples_wanted_.erase(of);
    return hooks_.sample(std::move(sample));
  }
}

void Batches::tell_finished(Running& batch) {
  parts_.pauses.answered(batch.instance->what());
  if (!samples_wanted_.empty()) give_sample(batch);
  BatchFinished finished{.id = batch.start.id,
                         .results = std::move(batch.results),
                         .measured = batch.measured,
                         .held = data::now() - batch.began,
                         .first = batch.first};
  let_go(batch, std::move(finished));
}

void Batches::fail(Running& batch, const std::string& error) {
  let_go(batch, BatchFailed{.id = batch.start.id, .error = error});
}

void Batches::let_go(Running& batch, Event event) {
  Instance& instance = *batch.instance;
  Process& process = *instance.process;
  hooks_.ending(process);
  --instance.running;
  instance.following -= batch.follows ? 1 : 0;
  if (--process.running == 0) process.idle = data::now();
  process.vcpus -= batch.follows ? 0 : batch.start.configuration.vcpu;
  answered_.add(batch.start.id);
  running_.erase(BatchId(batch.start.id));
  hooks_.event(std::move(event));
  hooks_.over(instance);
  go_on();
}

std::vector<BatchId> Batches::drop(const Instance& instance) {
  std::vector<BatchId> out;
  for (const auto& [id, batch] : running_) {
    if (batch->instance == &instance) out.push_back(id);
  }
  for (const BatchId id : out) {
    answered_.add(id);
    running_.erase(id);
  }
  return out;
}

void Batches::printed(const Process& process, const std::string& line) {
  if (!hooks_.log || process.running == 0) return;
  for (auto& [id, batch] : running_) {
    if (batch->instance->process != &process || batch->follows) continue;
    batch->log_bytes += line.size() + 1;
    if (batch->log_bytes <= kLogBytesMax) hooks_.log(id, line);
  }
}

bool Batches::wants_log(const Process& process) const {
  return std::any_of(running_.begin(), running_.end(), [&](const auto& entry) {
    return entry.second->instance->process == &process && entry.second->log_bytes <= kLogBytesMax;
  });
}

Time Batches::stuck_at(const Running& batch) const {
  const Duration expected = batch.start.expected;
  const Time awaited = batch.told + std::min(patience_.with_batch(expected), batch.timeout.value_or(Duration::max()));
  if (!batch.cancelled) return awaited;
  // Others run in a process that holds several functions, and would be lost with it.
  if (batch.instance->process->instances.size() > 1)
    return *batch.cancelled + std::max(patience_.hang_least, patience_.until_end(expected));
  return std::max(*batch.cancelled, batch.told + patience_.until_overdue(expected));
}

void Batches::look_at_clock(Time now, std::vector<Stuck>& stuck) {
  std::vector<BatchId> late, timed_out;
  for (const auto& [id, batch] : running_) {
    if (batch->reads && now > batch->start.latest) late.push_back(id);
    if (batch->waiting > 0 || now < stuck_at(*batch)) continue;
    if (!batch->cancelled && batch->timeout && now - batch->told >= *batch->timeout) {
      timed_out.push_back(id);
      continue;
    }
    stuck.push_back({.process = batch->instance->process->id, .end_at = {}});
    if (batch->cancelled) stuck.back().end_at = *batch->cancelled + patience_.until_end(batch->start.expected);
  }
  // The end of one may be that of its process, with all that is in it.
  for (const BatchId id : late) {
    if (const auto it = running_.find(id); it != running_.end()) let_go(*it->second, BatchExpired{.id = id});
  }
  for (const BatchId id : timed_out) {
    if (const auto it = running_.find(id); it != running_.end()) time_out(*it->second, now);
  }
}

// That is the function's own failure, with a name that `retry` and `catch` know.
void Batches::time_out(Running& batch, Time now) {
  Process& process = *batch.instance->process;
  const std::string error = str("Timeout: it took longer than its stage may, ", to_string(*batch.timeout));
  BatchFinished finished{.id = batch.start.id, .results = {}, .measured = now - batch.told, .held = now - batch.began};
  for (const BatchMember& member : batch.start.members) {
    finished.results.push_back({.id = member.invocation,
                                .outcome = Outcome::timed_out,
                                .error = error,
                                .verdicts = {},
                                .fan_outs = {},
                                .bytes = {}});
  }
  const ProcessId id = process.id;
  let_go(batch, std::move(finished));
  hooks_.lose_if_there(id, "did not answer within the timeout of its stage");
}

Time Batches::due() const {
  Time next = Time::max();
  for (const auto& [id, batch] : running_) {
    if (batch->waiting == 0) next = std::min(next, stuck_at(*batch));
    if (batch->reads) next = std::min(next, batch->start.latest);
  }
  return next;
}

std::vector<RunningBatch> Batches::of(InvokerId invoker) const {
  std::vector<RunningBatch> out;
  for (const auto& [id, batch] : running_) {
    if (batch->instance->invoker != invoker) continue;
    const StartBatch& start = batch->start;
    RunningBatch& one = out.emplace_back(RunningBatch{.id = id,
                                                      .instance = start.instance,
                                                      .configuration = start.configuration,
                                                      .positions = start.positions,
                                                      .invocations = {}});
    for (const BatchMember& member : start.members) one.invocations.push_back(member.invocation);
  }
  return out;
}

}  // namespace sluice::invoker
