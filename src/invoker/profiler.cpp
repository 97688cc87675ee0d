#include "invoker/profiler.h"

#include <unistd.h>

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/rng.h"
#include "base/text.h"
#include "data/clock.h"
#include "invoker/gather.h"
#include "invoker/output_size.h"
#include "invoker/results.h"
#include "invoker/session.h"
#include "invoker/vcpu_limit.h"
#include "invoker/worker_end.h"
#include "invoker/worker_log.h"

namespace sluice::invoker {
namespace {

constexpr std::int64_t kFreeDimension = 16;  // where a shape says -1

// Numbers between 0 and 1: networks take other ways through zeros.
data::Tensor random_tensor(const Port& port, data::Block block, const std::vector<std::int64_t>& shape, Rng& rng) {
  data::Tensor out{.info = {port.name, port.type, shape}, .block = std::move(block)};
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
    out.push_back(random_tensor(port, std::move(*block), shape, rng));
  }
  return out;
}

// One worker under measurement.
class Bench {
 public:
  Bench(const Function& function, const ProfilePlan& plan)
      : function_(function),
        patience_(plan.patience),
        stop_(plan.stop),
        limits_(str("sluice-profile-", next_number(), "-", ::getpid())) {}
  ~Bench() {
    if (session_) end_process(session_->process());
    limits_.leave(kProcess);
    limits_.clear({kProcess, kGroup});
  }

  Status start(Spawner& spawner, const std::shared_ptr<data::Arena>& arena, const std::string& tenant) {
    const Body& body = function_.cpu ? *function_.cpu : *function_.gpu;
    const auto memory = body.runtime == Runtime::emulated ? std::nullopt : function_.memory;
    auto process = spawner.spawn(body, tenant, [&](pid_t pid) { limits_.confine({kProcess, kGroup}, pid, memory); });
    if (!process) return process.error();
    limits_.enter({kProcess, kGroup}, process->pid);
    session_.emplace(std::move(*process), arena, Session::Options{.own_pages = memory && limits_.limits_memory()});
    if (const Status told = session_->hello(); !told) return told;
    if (const Status told = session_->load(0, function_, body); !told) return told;
    auto loaded = next<wire::Loaded>(patience_.load_max);
    if (!loaded) return loaded.error();
    if (!loaded->error.empty()) return Error{ErrorCode::unavailable, loaded->error};
    return Done{};
  }

  // Milliseconds of one batch. Nothing is expected of the first: it may take as long as a load.
  Result<double> run(const data::Tensors& row, const Configuration& c) {
    limits_.set(kProcess, c.vcpu);
    const std::vector<const data::Tensors*> rows(c.batch, &row);
    auto inputs = gather(rows, session_->arena());
    if (!inputs) return inputs.error();
    auto space = session_->space_of(outputs_.space_for(c.batch));
    if (!space) return Error{ErrorCode::unavailable, "the object store is full"};
    const Status told = session_->run({.batch = ++batch_,
                                       .rows = c.batch,
                                       .threads = std::max<std::uint32_t>(1, c.vcpu),
                                       .deadline = Time::max(),
                                       .inputs = std::move(inputs->inputs)},
                                      std::move(*space), std::move(inputs->held));
    if (!told && !session_->hung_up()) return told.error();
    const Duration expected = slowest_row_ * c.batch;
    auto answer = next<Session::Answer>(batch_ == 1 ? patience_.load_max : patience_.with_batch(expected));
    if (!answer) return answer.error();
    const auto results = results_of(answer->ran, c.batch, answer->space, function_);
    if (!results) return failed(results.error().message);
    std::size_t largest = 0;
    for (const RowResult& result : *results) {
      if (!result.error.empty()) return Error{ErrorCode::invalid, explained(result.error)};
      std::size_t bytes = 0;
      for (const data::Tensor& tensor : result.outputs) bytes += tensor.size + data::Arena::kAlignment;
      largest = std::max(largest, bytes);
    }
    outputs_.seen(largest);
    slowest_row_ = std::max(slowest_row_, answer->ran.took * (1.0 / c.batch));
    return answer->ran.took.to_ms();
  }

 private:
  static constexpr ProcessId kProcess{0};
  static constexpr const char* kGroup = "measured";
  static constexpr std::int64_t kLookMs = 200;  // whether to stop

  // Several may be measured at once.
  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> next = 0;
    return next++;
  }

  [[nodiscard]] Error failed(const std::string& why) const {
    return {ErrorCode::unavailable,
            with_last_line(str("WorkerFailed: the worker of function '", function_.name, "' ", why), log_.last_line())};
  }
  // The next thing the worker says, which has to be of this kind. What it prints meanwhile is read, or it would wait
  // for that for ever.
  template <class Kind>
  Result<Kind> next(Duration most) {
    const Time until = data::now() + most;
    const auto ignore = [](const std::string&) {};
    for (;;) {
      WorkerProcess& process = session_->process();
      std::array<pollfd, 2> ready{{{process.channel.descriptor(), POLLIN, 0}, {process.log.get(), POLLIN, 0}}};
      if (data::now() > until) return failed("did not answer in time");
      if (stop_ != nullptr && *stop_) return failed("is not waited for any more: the server is stopping");
      const auto left_ms = std::clamp<std::int64_t>((until - data::now()).count_ns() / 1'000'000 + 1, 0, kLookMs);
      if (::poll(ready.data(), ready.size(), static_cast<int>(left_ms)) == 0) continue;
      if (ready[1].revents != 0 && !log_.read(process.log, false, ignore)) process.log.reset();
      if (ready[0].revents == 0) continue;
      Session::Heard heard = session_->hear();
      if (auto* wanted = std::get_if<Kind>(&heard)) return std::move(*wanted);
      if (std::holds_alternative<Session::Nothing>(heard)) continue;
      (void)log_.read(process.log, false, ignore);
      log_.end_line(ignore);
      const auto* broken = std::get_if<Session::Broken>(&heard);
      return failed(broken != nullptr ? broken->why : ended());
    }
  }
  // What is known of a program that ended.
  [[nodiscard]] std::string explained(const std::string& error) const {
    if (!program_ended(error)) return error;
    const bool over = function_.memory && limits_.memory_kills({kProcess, kGroup}) > 0;
    return with_last_line(over ? str(error, ": it ", over_memory(*function_.memory)) : error, log_.last_line());
  }
  [[nodiscard]] std::string ended() const {
    constexpr int kEndMs = 1000;  // from the end of its socket to its own
    pollfd end{end_descriptor(session_->process()), POLLIN, 0};
    (void)::poll(&end, 1, kEndMs);
    if (function_.memory && limits_.memory_kills({kProcess, kGroup}) > 0) return over_memory(*function_.memory);
    return how_it_ended(session_->process()).value_or("closed its socket, or sent more than a message may have");
  }

  const Function& function_;
  Patience patience_;
  const std::atomic<bool>* stop_;
  VcpuLimit limits_;
  std::optional<Session> session_;
  WorkerLog log_;
  OutputSize outputs_;
  Duration slowest_row_;
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

bool inputs_can_be_made(const Function& function) {
  const bool emulated = function.cpu && function.cpu->runtime == Runtime::emulated;
  const auto sized = [](const Port& port) { return port.type != DataType::bytes; };
  return std::ranges::all_of(function.inputs, sized) && (emulated || !function.inputs.empty());
}

Result<ProfileTable> measure(const Function& function, const ProfilePlan& plan, Spawner& spawner,
                             const std::shared_ptr<data::Arena>& arena,
                             const std::function<bool(const ProfileProgress&)>& go_on) {
  auto made = plan.sample ? Result<data::Tensors>(*plan.sample) : made_inputs(function, *arena);
  if (!made) return made.error();
  Bench bench(function, plan);
  if (const Status started = bench.start(spawner, arena, plan.tenant); !started) return started.error();
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

Status try_once(const Function& function, const ProfilePlan& plan, Spawner& spawner,
                const std::shared_ptr<data::Arena>& arena, std::string& doubt) {
  Bench bench(function, plan);
  if (const Status started = bench.start(spawner, arena, plan.tenant); !started) return started;
  auto row = plan.sample ? Result<data::Tensors>(*plan.sample) : made_inputs(function, *arena);
  if (!row) return Done{};  // its first request will tell
  const auto ran = bench.run(*row, {.batch = 1, .vcpu = plan.vcpu.front()});
  if (ran || ran.error().code != ErrorCode::invalid) return ran ? Status(Done{}) : Status(ran.error());
  doubt = ran.error().message;
  return Done{};
}

}  // namespace sluice::invoker
