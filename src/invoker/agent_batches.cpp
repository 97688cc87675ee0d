// How the agent runs batches: inputs gathered, the worker told, its answer checked and kept.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "data/clock.h"
#include "invoker/agent.h"
#include "invoker/gather.h"
#include "invoker/results.h"

namespace sluice::invoker {
namespace {

InvocationResult failed(const BatchMember& member, const std::string& error) {
  return {.id = member.invocation, .outcome = Outcome::failed, .error = error};
}

}  // namespace

void Agent::start_batch(StartBatch& command) {
  if (batches_.contains(command.id) || answered_.contains(command.id)) return;  // delivered twice
  Instance* instance = find(command.instance);
  const bool there = instance != nullptr && instance->loaded && !instance->leaving;
  if (!there || instance->running >= instance->batches) {
    const std::string& name = function_of(command.application, command.function).name;
    return hooks_.event(
        BatchFailed{.id = command.id,
                    .error = str("WorkerFailed: the worker of function '", name, "' is ", there ? "busy" : "gone")});
  }
  const Time now = data::now();
  if (now > command.latest) {
    answered_.add(command.id);
    return hooks_.event(BatchExpired{.id = command.id});
  }
  Running& running = *batches_.emplace(command.id, std::make_unique<Running>()).first->second;
  running.start = std::move(command);
  running.instance = instance;
  running.began = now;
  Process& process = *instance->process;
  ++instance->running;
  ++process.running;
  process.idle.reset();
  process.vcpus += running.start.configuration.vcpu;
  running.told = now;
  read_inputs(running);
}

// REQUIRES: every member has its inputs, or a result that says why not.
void Agent::begin(Running& running) {
  std::vector<std::uint32_t> whole;
  for (std::uint32_t m = 0; m < running.inputs.size(); ++m) {
    if (running.results[m].outcome == Outcome::succeeded) whole.push_back(m);
  }
  std::vector<data::Tensors> ready;  // only where some have no inputs
  const bool all = whole.size() == running.inputs.size();
  for (std::size_t i = 0; i < whole.size() && !all; ++i) ready.push_back(running.inputs[whole[i]]);
  running.groups = stackable(all ? running.inputs : ready);
  for (auto& group : running.groups) {
    for (std::uint32_t& member : group) member = whole[member];
  }
  std::reverse(running.groups.begin(), running.groups.end());
  const Process& process = *running.instance->process;
  limits_.set(process.id, process.vcpus);
  next_group(running);
}

// A batch that has not begun does not run, one that runs stops where its engine can. Else it runs to its end: a worker
// cannot be stopped within one without ending it.
void Agent::cancel_batch(const CancelBatch& command) {
  const auto it = batches_.find(command.id);
  if (it == batches_.end()) return;  // over
  Running& batch = *it->second;
  batch.cancelled = true;
  if (batch.reads) return fail(batch, "Cancelled");
  if (batch.waiting > 0) return;  // it has run
  Process& process = *batch.instance->process;
  if (!process.session->cancel(command.id.value()) && !process.session->hung_up()) {
    lose(process, "does not read what it is told");
  }
}

// Emulated functions take what their profile says, with its spread.
Duration Agent::emulated_time(const StartBatch& start, std::uint32_t rows) {
  const auto& profile = applications_[start.application.index()].profiles[start.function.index()];
  if (!profile) return {};
  Configuration asked = start.configuration;
  asked.batch = static_cast<std::uint16_t>(rows);
  const profile::Latency latency = profile->latency(asked);
  constexpr double kWidest = 3;  // standard deviations
  return Duration::ms(latency.at_deviations_ms(std::clamp(luck_.normal(), -kWidest, kWidest)));
}

void Agent::next_group(Running& batch) {
  if (batch.groups.empty()) return finish(batch);
  if (batch.cancelled) return fail(batch, "Cancelled");
  Instance& instance = *batch.instance;
  Process& process = *instance.process;
  Session& session = *process.session;
  batch.group = std::move(batch.groups.back());
  batch.groups.pop_back();
  std::vector<const data::Tensors*> members;
  for (const std::uint32_t m : batch.group) members.push_back(&batch.inputs[m]);
  const auto rows = static_cast<std::uint32_t>(members.size());
  auto gathered = gather(members, session.arena());
  auto space = session.space_of(instance.outputs.space_for(rows));
  if (!gathered || !space) {
    return skip_group(batch, str(kObjectStoreFull, ": ", gathered ? "no room for outputs" : gathered.error().message));
  }
  if (gathered->copied > 0) ++counters_.gathers;
  counters_.bytes_gathered += gathered->copied;
  const Status told = session.run({.batch = batch.start.id.value(),
                                   .function = instance.number,
                                   .rows = rows,
                                   .threads = std::max<std::uint32_t>(1, batch.start.configuration.vcpu),
                                   .emulated = emulated_time(batch.start, rows),
                                   .deadline = batch.start.latest,
                                   .positions = batch.start.positions,
                                   .inputs = std::move(gathered->inputs)},
                                  std::move(*space), std::move(gathered->held));
  if (told || session.hung_up()) return;  // if it has ended, that is heard next
  if (told.error().code == ErrorCode::too_large)
    return skip_group(batch, told.error().message);  // inputs of many parts
  lose(process, "does not read what it is told");
}

void Agent::skip_group(Running& batch, const std::string& error) {
  for (const std::uint32_t m : batch.group) batch.results[m] = failed(batch.start.members[m], error);
  next_group(batch);
}

void Agent::on_answer(Process& process, Session::Answer& answer) {
  const auto it = batches_.find(BatchId(answer.ran.batch));
  CHECK(it != batches_.end());  // the session knows what was asked
  Running& batch = *it->second;
  if (answer.ran.cancelled) return fail(batch, "Cancelled");
  const Function& function = function_of(batch.start.application, batch.start.function);
  auto rows = results_of(answer.ran, static_cast<std::uint32_t>(batch.group.size()), answer.space, function);
  if (!rows) {
    process.session->retain(std::move(answer.space));
    return lose(process, rows.error().message);
  }
  // It is learned from, so no worker can say more than the time that passed.
  batch.measured += std::clamp(answer.ran.took, Duration{}, data::now() - batch.began - batch.measured);
  std::size_t largest = 0;
  for (std::size_t r = 0; r < rows->size(); ++r) {
    const BatchMember& member = batch.start.members[batch.group[r]];
    InvocationResult& result = batch.results[batch.group[r]];
    RowResult& row = (*rows)[r];
    if (!row.error.empty()) {
      result = failed(member, row.error);
      continue;
    }
    std::size_t bytes = 0;
    for (const data::Tensor& tensor : row.outputs) bytes += tensor.size + data::Arena::kAlignment;
    largest = std::max(largest, bytes);
    result.bytes = Bytes(static_cast<std::int64_t>(bytes));
    counters_.bytes_out += bytes;
    objects_.put(member.request, {member.outermost(), member.stage, member.item, member.path},
                 std::make_shared<const data::Tensors>(std::move(row.outputs)));
  }
  batch.instance->outputs.seen(largest);
  next_group(batch);
}

void Agent::finish(Running& batch) {
  ++counters_.batches;
  look_at_conditions(batch);
}

void Agent::tell_finished(Running& batch) {
  pauses_.answered(batch.instance->what());
  BatchFinished finished{.id = batch.start.id,
                         .results = std::move(batch.results),
                         .measured = batch.measured,
                         .held = data::now() - batch.began};
  let_go(batch, std::move(finished));
}

void Agent::fail(Running& batch, const std::string& error) {
  let_go(batch, BatchFailed{.id = batch.start.id, .error = error});
}

// What the worker printed before it answered was read before its answer, unless so much was readable that it was left
// for later, or it prints more than is looked at. A line without its end is this batch's if no other one runs.
void Agent::let_go(Running& batch, Event event) {
  Instance& instance = *batch.instance;
  Process& process = *instance.process;
  if (!seen_all_ || process.log_again) read_log(process);
  if (process.running == 1) end_line(process);
  --instance.running;
  if (--process.running == 0) process.idle = data::now();
  process.vcpus -= batch.start.configuration.vcpu;
  answered_.add(batch.start.id);
  batches_.erase(BatchId(batch.start.id));
  hooks_.event(std::move(event));
  if (instance.leaving && instance.running == 0) return leave(instance);
  look_at_memory(process);
}

}  // namespace sluice::invoker
