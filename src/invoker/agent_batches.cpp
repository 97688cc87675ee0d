// How the agent runs batches: inputs gathered, the worker told, its answer checked and kept.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "data/clock.h"
#include "data/values.h"
#include "invoker/agent.h"
#include "invoker/process_tree.h"
#include "invoker/results.h"

namespace sluice::invoker {
namespace {

constexpr std::size_t kSpaceLeast = 4096;
constexpr double kSpaceSpare = 1.25;
constexpr std::size_t kLogBytesMax = 64u << 10;  // of one batch; the rest is dropped
constexpr std::size_t kLogLineMax = 1000;
constexpr Duration kMemoryEvery = Duration::s(1);
constexpr std::size_t kLogReadMax = 64u << 10;  // at once: what a pipe holds

// Bytes of one row of all declared outputs; 0: some have no fixed size.
std::size_t declared_row_bytes(const Function& function) {
  std::size_t total = 0;
  for (const Port& port : function.outputs) {
    const auto bytes = data::byte_size(port.type, port.shape);
    if (!bytes || *bytes == 0) return 0;
    total += (*bytes + data::Arena::kAlignment - 1) / data::Arena::kAlignment * data::Arena::kAlignment;
  }
  return total;
}

data::RunKey run_of(const BatchMember& member) {
  return {member.request, member.outermost(), member.path};
}

InvocationResult failed(const BatchMember& member, const std::string& error) {
  return {.id = member.invocation, .outcome = Outcome::failed, .error = error};
}

}  // namespace

void Agent::start_batch(StartBatch& command) {
  Worker* worker = find(command.instance);
  if (worker == nullptr || !worker->loaded || worker->running) {
    const std::string& name = function_of(command.application, command.function).name;
    return hooks_.event(
        BatchFailed{.id = command.id, .error = str("WorkerFailed: the worker of function '", name, "' is gone")});
  }
  const Time now = data::now();
  if (now > command.latest) return hooks_.event(BatchExpired{.id = command.id});
  Running& running = worker->running.emplace();
  running.start = std::move(command);
  running.began = now;
  worker->log_bytes = 0;
  const Application& application = *applications_[running.start.application.index()].application;
  std::vector<std::uint32_t> whole;
  running.inputs.reserve(running.start.members.size());
  running.results.reserve(running.start.members.size());
  for (const BatchMember& member : running.start.members) {
    const data::Values values(objects_, application, run_of(member), *arena_);
    auto inputs = values.inputs_of(member.stage, member.item);
    running.results.push_back({.id = member.invocation});
    if (inputs) {
      whole.push_back(static_cast<std::uint32_t>(running.inputs.size()));
      running.inputs.push_back(std::move(*inputs));
    } else {
      running.results.back() = failed(member, str("InputMissing: ", inputs.error().message));
      running.inputs.emplace_back();
    }
  }
  std::vector<data::Tensors> ready;  // only where some have no inputs
  const bool all = whole.size() == running.inputs.size();
  for (std::size_t i = 0; i < whole.size() && !all; ++i) ready.push_back(running.inputs[whole[i]]);
  running.groups = stackable(all ? running.inputs : ready);
  for (auto& group : running.groups) {
    for (std::uint32_t& member : group) member = whole[member];
  }
  std::reverse(running.groups.begin(), running.groups.end());
  limits_.set(worker->instance, running.start.configuration.vcpu);
  next_group(*worker);
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

void Agent::next_group(Worker& worker) {
  Running& running = *worker.running;
  if (running.groups.empty()) return finish(worker);
  running.group = std::move(running.groups.back());
  running.groups.pop_back();
  std::vector<const data::Tensors*> members;
  for (const std::uint32_t m : running.group) members.push_back(&running.inputs[m]);
  const auto rows = static_cast<std::uint32_t>(members.size());
  auto gathered = gather(members, *arena_);
  const Function& function = function_of(running.start.application, running.start.function);
  const std::size_t row_bytes = std::max(declared_row_bytes(function), worker.output_row_bytes);
  const auto space = space_for(
      worker, std::max(kSpaceLeast, static_cast<std::size_t>(static_cast<double>(row_bytes * rows) * kSpaceSpare)));
  if (!gathered || !space) {
    for (const std::uint32_t m : running.group) {
      running.results[m] = failed(running.start.members[m],
                                  gathered ? "ObjectStoreFull: no room for outputs" : gathered.error().message);
    }
    return next_group(worker);
  }
  running.gathered = std::move(*gathered);
  running.space = *space;
  if (running.gathered.copied > 0) ++counters_.gathers;
  counters_.bytes_gathered += running.gathered.copied;
  const wire::ToWorker run(wire::Run{.batch = running.start.id.value(),
                                     .rows = rows,
                                     .threads = std::max<std::uint32_t>(1, running.start.configuration.vcpu),
                                     .emulated = emulated_time(running.start, rows),
                                     .deadline = running.start.latest,
                                     .inputs = std::move(running.gathered.inputs),
                                     .outputs = {space->offset(), space->size()}});
  std::string bytes;
  const Status encoded = wire::encode(run, bytes);
  if (!encoded) {  // inputs of many parts; no fault of the worker
    for (const std::uint32_t m : running.group)
      running.results[m] = failed(running.start.members[m], encoded.error().message);
    return next_group(worker);
  }
  if (!worker.process.channel.send(bytes)) lose(worker, "has ended, or does not read what it is told");
}

void Agent::on_readable(InstanceId id, bool log) {
  Worker* worker = find(id);
  if (worker == nullptr) return;
  if (log) return read_log(*worker);
  std::string bytes;
  switch (worker->process.channel.receive(bytes)) {
    case wire::Received::nothing:
      return;
    case wire::Received::closed:
      return lose(*worker, "has ended");
    case wire::Received::message:
      break;
  }
  const auto message = wire::decode_from_worker(bytes);
  if (!message) return lose(*worker, "wrote rubbish");
  on_message(*worker, *message);
}

void Agent::on_message(Worker& worker, const wire::FromWorker& message) {
  if (const auto* loaded = std::get_if<wire::Loaded>(&message)) return on_loaded(worker, *loaded);
  if (const auto* ran = std::get_if<wire::Ran>(&message)) return on_ran(worker, *ran);
  on_wanted(worker, std::get<wire::Wanted>(message));
}

void Agent::on_ran(Worker& worker, const wire::Ran& ran) {
  if (!worker.running || ran.batch != worker.running->start.id.value()) {
    return lose(worker, "answered what it was not asked");
  }
  Running& running = *worker.running;
  const Function& function = function_of(running.start.application, running.start.function);
  auto rows = results_of(ran, static_cast<std::uint32_t>(running.group.size()), running.space, function);
  if (!rows) return lose(worker, rows.error().message);
  // It is learned from, so no worker can say more than the time that passed.
  running.measured += std::clamp(ran.took, Duration{}, data::now() - running.began - running.measured);
  for (std::size_t r = 0; r < rows->size(); ++r) {
    const BatchMember& member = running.start.members[running.group[r]];
    InvocationResult& result = running.results[running.group[r]];
    RowResult& row = (*rows)[r];
    if (!row.error.empty()) {
      result = failed(member, row.error);
      continue;
    }
    std::size_t bytes = 0;
    for (const data::Tensor& tensor : row.outputs) bytes += tensor.size + data::Arena::kAlignment;
    worker.output_row_bytes = std::max(worker.output_row_bytes, bytes);
    result.bytes = Bytes(static_cast<std::int64_t>(bytes));
    counters_.bytes_out += bytes;
    objects_.put(member.request, {member.outermost(), member.stage, member.item, member.path},
                 std::make_shared<const data::Tensors>(std::move(row.outputs)));
  }
  next_group(worker);
}

void Agent::on_wanted(Worker& worker, const wire::Wanted& wanted) {
  if (!worker.running || wanted.batch != worker.running->start.id.value()) return lose(worker, "asked for no batch");
  const auto space = space_for(worker, static_cast<std::size_t>(wanted.bytes));
  wire::Grant grant{.batch = wanted.batch};
  if (space) {
    worker.running->space = *space;
    grant.outputs = {space->offset(), space->size()};
  }
  std::string bytes;
  if (!wire::encode(wire::ToWorker(grant), bytes) || !worker.process.channel.send(bytes)) lose(worker, "has ended");
}

void Agent::finish(Worker& worker) {
  end_log(worker);
  Running running = std::move(*worker.running);
  worker.running.reset();
  ++counters_.batches;
  const Application& application = *applications_[running.start.application.index()].application;
  for (std::size_t m = 0; m < running.results.size(); ++m) {
    if (running.results[m].outcome != Outcome::succeeded) continue;
    const BatchMember& member = running.start.members[m];
    const data::Values values(objects_, application, run_of(member), *arena_);
    auto known = values.known_after(member.stage);
    if (!known) {
      running.results[m] = failed(member, known.error().message);
      continue;
    }
    running.results[m].verdicts = std::move(known->verdicts);
    running.results[m].fan_outs = std::move(known->fan_outs);
  }
  hooks_.event(BatchFinished{.id = running.start.id,
                             .results = std::move(running.results),
                             .measured = running.measured,
                             .held = data::now() - running.began});
  look_at_memory(worker);
}

std::optional<data::Block> Agent::space_for(Worker& worker, std::size_t bytes) {
  auto space = arena_->allocate(bytes);
  if (!space || !worker.memory || !limits_.limits_memory()) return space;
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(space->data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(space->data() + space->size());
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
  return space;
}

// Where no control group does it: a worker that has grown too large goes between batches, at the cost of a cold start.
void Agent::look_at_memory(Worker& worker) {
  const Time now = data::now();
  if (!worker.memory || limits_.limits_memory() || now - worker.memory_seen < kMemoryEvery) return;
  worker.memory_seen = now;
  const Bytes holds = private_memory_of(family_of(worker.process.pid));
  if (holds <= *worker.memory) return;
  lose(worker, str("holds ", to_string(holds), ", `memory` of its function says ", to_string(*worker.memory)));
}

// A bounded part of what is there: a worker that never stops printing must not keep the scheduler from its work.
void Agent::read_log(Worker& worker) {
  std::array<char, kLogReadMax> buffer;  // NOLINT: read fills it
  const ssize_t got = ::read(worker.process.log.get(), buffer.data(), buffer.size());
  if (got == 0) worker.process.log.reset();  // closed by the worker; the end would be reported again and again
  if (got <= 0) return;
  worker.partial_line.append(buffer.data(), static_cast<std::size_t>(got));
  std::string_view left = worker.partial_line;
  for (std::size_t end = 0; (end = left.find('\n')) != std::string_view::npos || left.size() > kLogLineMax;) {
    const std::size_t length = std::min(end, kLogLineMax);
    log_line(worker, std::string(left.substr(0, length)));
    left.remove_prefix(end == length ? length + 1 : length);
  }
  worker.partial_line = std::string(left);
}

void Agent::log_line(Worker& worker, std::string line) {
  worker.log_bytes += line.size() + 1;
  if (worker.running && worker.log_bytes <= kLogBytesMax && hooks_.log) hooks_.log(worker.running->start.id, line);
  worker.last_line = std::move(line);
}

// What it printed before it answered or ended is in the pipe by now; a last line may have no end.
void Agent::end_log(Worker& worker) {
  if (worker.process.log.valid()) read_log(worker);
  if (!worker.partial_line.empty()) log_line(worker, std::exchange(worker.partial_line, {}));
}

}  // namespace sluice::invoker
