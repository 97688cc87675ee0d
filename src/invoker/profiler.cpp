#include "invoker/profiler.h"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/rng.h"
#include "base/text.h"
#include "data/clock.h"
#include "invoker/gather.h"
#include "invoker/vcpu_limit.h"

namespace sluice::invoker {
namespace {

constexpr int kAnswerMs = 120'000;
constexpr std::int64_t kFreeDimension = 16;  // where a shape says -1
constexpr std::size_t kSpace = 64u << 10;

// Numbers between 0 and 1: networks take other ways through zeros.
data::Tensor random_tensor(const Port& port, data::Block block, std::vector<std::int64_t> shape, Rng& rng) {
  data::Tensor out{.info = {port.name, port.type, std::move(shape)}, .block = std::move(block)};
  out.size = out.block.size();
  if (port.type == DataType::fp32) {
    for (std::size_t i = 0; i + sizeof(float) <= out.size; i += sizeof(float)) {
      const auto value = static_cast<float>(rng.uniform());
      std::memcpy(out.block.data() + i, &value, sizeof value);
    }
  } else {
    std::memset(out.block.data(), 0, out.size);
  }
  return out;
}

Result<data::Tensors> made_inputs(const Function& function, data::Arena& arena) {
  data::Tensors out;
  Rng rng(1);
  if (function.inputs.empty() && !(function.cpu && function.cpu->runtime == Runtime::emulated)) {
    return Error{ErrorCode::invalid,
                 str("function '", function.name,
                     "' declares no inputs, so none can be made: declare `inputs:` or give a sample")};
  }
  for (const Port& port : function.inputs) {
    std::vector<std::int64_t> shape = port.shape;
    for (std::int64_t& dimension : shape) dimension = dimension < 0 ? kFreeDimension : dimension;
    const auto bytes = data::byte_size(port.type, shape);
    if (!bytes || *bytes == 0) {
      return Error{ErrorCode::invalid,
                   str("input '", port.name, "' of function '", function.name, "' has no fixed size: give a sample")};
    }
    auto block = arena.allocate(*bytes);
    if (!block) return Error{ErrorCode::unavailable, "the object store is full"};
    out.push_back(random_tensor(port, std::move(*block), std::move(shape), rng));
  }
  return out;
}

// One worker under measurement.
class Bench {
 public:
  Bench(const Function& function, std::shared_ptr<data::Arena> arena)
      : function_(function), arena_(std::move(arena)), limits_(str("sluice-profile-", data::now().count_ns())) {}
  ~Bench() {
    end_process(process_);
    limits_.leave(InstanceId(0));
    limits_.clear(InstanceId(0));
  }

  Status start(Spawner& spawner) {
    const Body& body = function_.cpu ? *function_.cpu : *function_.gpu;
    auto process = spawner.spawn(body.runtime);
    if (!process) return process.error();
    process_ = std::move(*process);
    limits_.confine(InstanceId(0), process_.pid, std::nullopt);
    limits_.enter(InstanceId(0), process_.pid);
    std::string bytes;
    const Status encoded = wire::encode(wire::ToWorker(wire::Load{.arena_bytes = arena_->capacity(),
                                                                  .function = function_.name,
                                                                  .body = body,
                                                                  .inputs = function_.inputs,
                                                                  .outputs = function_.outputs}),
                                        bytes);
    if (!encoded) return encoded;
    if (const Status sent = process_.channel.send(bytes, {arena_->descriptor()}); !sent) return sent;
    const auto answer = receive();
    if (!answer) return answer.error();
    const auto* loaded = std::get_if<wire::Loaded>(&*answer);
    if (loaded == nullptr) return Error{ErrorCode::invalid, "the worker wrote rubbish"};
    if (!loaded->error.empty()) return Error{ErrorCode::unavailable, loaded->error};
    return Done{};
  }

  // Milliseconds of one batch.
  Result<double> run(const data::Tensors& row, const Configuration& c) {
    limits_.set(InstanceId(0), c.vcpu);
    const std::vector<const data::Tensors*> rows(c.batch, &row);
    auto inputs = gather(rows, *arena_);
    if (!inputs) return inputs.error();
    if (space_.size() < kSpace) {
      auto space = arena_->allocate(kSpace);
      if (!space) return Error{ErrorCode::unavailable, "the object store is full"};
      space_ = std::move(*space);
    }
    const wire::Run run{.batch = ++batch_,
                        .rows = c.batch,
                        .threads = std::max<std::uint32_t>(1, c.vcpu),
                        .inputs = inputs->inputs,
                        .outputs = {space_.offset(), space_.size()}};
    if (const Status sent = send(wire::ToWorker(run)); !sent) return sent.error();
    for (;;) {
      const auto answer = receive();
      if (!answer) return answer.error();
      if (const auto* ran = std::get_if<wire::Ran>(&*answer)) {
        if (!ran->error.empty()) return Error{ErrorCode::invalid, ran->error};
        return ran->took.to_ms();
      }
      const auto* wanted = std::get_if<wire::Wanted>(&*answer);
      auto more = wanted == nullptr ? std::nullopt : arena_->allocate(static_cast<std::size_t>(wanted->bytes));
      if (!more) return Error{ErrorCode::unavailable, "no room for the outputs"};
      space_ = std::move(*more);
      const wire::Grant grant{.batch = batch_, .outputs = {space_.offset(), space_.size()}};
      if (const Status sent = send(wire::ToWorker(grant)); !sent) return sent.error();
    }
  }

 private:
  Status send(const wire::ToWorker& message) {
    std::string bytes;
    if (const Status encoded = wire::encode(message, bytes); !encoded) return encoded;
    return process_.channel.send(bytes);
  }
  Result<wire::FromWorker> receive() {
    pollfd readable{process_.channel.descriptor(), POLLIN, 0};
    std::string bytes;
    if (::poll(&readable, 1, kAnswerMs) <= 0 || process_.channel.receive(bytes) != wire::Received::message) {
      return Error{ErrorCode::unavailable, str("the worker of function '", function_.name, "' does not answer")};
    }
    return wire::decode_from_worker(bytes);
  }

  const Function& function_;
  std::shared_ptr<data::Arena> arena_;
  VcpuLimit limits_;
  WorkerProcess process_;
  data::Block space_;
  std::uint64_t batch_ = 0;
};

ProfileRow row_of(const Configuration& c, const std::vector<double>& times) {
  double sum = 0, squares = 0;
  for (const double t : times) sum += t;
  const double mean = sum / static_cast<double>(times.size());
  for (const double t : times) squares += (t - mean) * (t - mean);
  const double sd = times.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(times.size() - 1));
  return {.configuration = c, .mean_ms = std::max(mean, 1e-3), .sd_ms = sd};
}

// Small batches and the ends of the range first.
std::vector<Configuration> configurations(const ProfilePlan& plan) {
  std::vector<Configuration> out;
  for (const std::uint16_t batch : plan.batch) {
    for (const std::uint16_t vcpu : plan.vcpu) out.push_back({.batch = batch, .vcpu = vcpu});
  }
  return out;
}

}  // namespace

Result<ProfileTable> measure(const Function& function, const ProfilePlan& plan, Spawner& spawner,
                             const std::shared_ptr<data::Arena>& arena,
                             const std::function<bool(const ProfileProgress&)>& go_on) {
  auto made = plan.sample ? Result<data::Tensors>(*plan.sample) : made_inputs(function, *arena);
  if (!made) return made.error();
  Bench bench(function, arena);
  if (const Status started = bench.start(spawner); !started) return started.error();
  const std::vector<Configuration> all = configurations(plan);
  const Time begin = data::now();
  ProfileTable out;
  ProfileProgress progress{.all = all.size()};
  for (const Configuration& c : all) {
    progress.at = c;
    progress.row.reset();
    if (!go_on(progress)) break;
    const Duration share =
        (plan.budget - (data::now() - begin)) * (1.0 / static_cast<double>(all.size() - progress.done));
    if (!out.rows.empty() && share <= Duration{}) break;
    const Time until = data::now() + share;
    std::vector<double> times;
    for (std::uint32_t i = 0; i < plan.runs_most + 1; ++i) {
      const auto ms = bench.run(*made, c);
      if (!ms) {
        if (out.rows.empty()) return ms.error();
        return out;  // the larger batch is too much for it
      }
      if (i > 0) times.push_back(*ms);  // the first one warms
      if (times.size() >= plan.runs_least && data::now() >= until) break;
    }
    out.rows.push_back(row_of(c, times));
    ++progress.done;
    progress.row = out.rows.back();
    if (!go_on(progress)) break;
  }
  if (out.rows.empty()) return Error{ErrorCode::unavailable, "nothing was measured"};
  return out;
}

}  // namespace sluice::invoker
