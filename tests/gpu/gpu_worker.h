// A real worker process with a GPU at the other end of a socket, for programs that measure and check. Standard library
// only: such programs are built on machines that have nothing but CUDA and PyTorch.
#pragma once
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "data/arena.h"
#include "wire/channel.h"
#include "wire/messages.h"

namespace sluice::gpu_test {

[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::exit(1);
}

inline double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Network {
  std::string name, file;
  std::int64_t size = 224;
  DataType type = DataType::fp32;
  std::vector<std::int64_t> answer = {1000};
  [[nodiscard]] Port input() const { return {"x", type, {3, size, size}, {}}; }
  [[nodiscard]] Port output() const { return {"y", DataType::fp32, answer, {}}; }
  [[nodiscard]] std::size_t input_bytes() const {
    return static_cast<std::size_t>(3 * size * size) * data::element_size(type);
  }
  [[nodiscard]] std::size_t output_bytes() const {
    std::size_t elements = 1;
    for (const std::int64_t length : answer) elements *= static_cast<std::size_t>(length);
    return elements * 4;
  }
};

class GpuWorker {
 public:
  GpuWorker(const std::string& program, GpuMode mode, std::uint32_t slices, Bytes arena = Bytes::mb(512)) {
    auto ends = wire::Channel::pair();
    const int theirs = ends->second.descriptor();
    const std::string number = std::to_string(theirs);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::fcntl(theirs, F_SETFD, 0);
      ::execl(program.c_str(), program.c_str(), "--socket", number.c_str(), nullptr);
      ::_exit(127);
    }
    channel_.emplace(std::move(ends->first));
    arena_ = *data::Arena::make(arena);
    arena_->pin();
    auto all = arena_->allocate(static_cast<std::size_t>(arena.count()) - 4096);
    arena_->populate(*all);
    all.reset();
    send(wire::Hello{.arena_bytes = arena_->capacity(),
                     .lanes = wire::lanes_max,
                     .mode = mode,
                     .slices = slices,
                     .pinned = true},
         {arena_->descriptor()});
  }
  ~GpuWorker() {
    channel_.reset();
    int status = 0;
    if (pid_ > 0) ::waitpid(pid_, &status, 0);
  }
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;

  void send(const wire::ToWorker& message, const std::vector<int>& descriptors = {}) {
    std::string bytes;
    if (const Status encoded = wire::encode(message, bytes); !encoded) fail(encoded.error().message);
    if (const Status sent = channel_->send(bytes, descriptors); !sent) fail("the worker is gone");
  }
  // Looks all the time, as a busy server does.
  wire::FromWorker next() {
    for (;;) {
      if (auto message = try_next()) return std::move(*message);
    }
  }
  std::optional<wire::FromWorker> try_next() {
    const wire::Received received = channel_->receive(bytes_);
    if (received == wire::Received::nothing) return std::nullopt;
    if (received == wire::Received::closed) fail("the worker has ended");
    auto message = wire::decode_from_worker(bytes_);
    if (!message) fail(message.error().message);
    return std::move(*message);
  }
  wire::Loaded load(std::uint32_t number, const Network& network, GpuForm form = {},
                    std::optional<Bytes> memory = std::nullopt) {
    send(wire::Load{.function = number,
                    .name = network.name,
                    .body = {.runtime = Runtime::torch, .model = network.file, .form = form},
                    .inputs = {network.input()},
                    .outputs = {network.output()},
                    .device = 0,
                    .memory = memory});
    for (;;) {
      auto message = next();
      if (auto* loaded = std::get_if<wire::Loaded>(&message)) return *loaded;
    }
  }
  wire::Moved move(std::uint32_t number, Level level) {
    send(wire::Move{number, level});
    for (;;) {
      auto message = next();
      if (auto* moved = std::get_if<wire::Moved>(&message)) return *moved;
    }
  }
  void unload(std::uint32_t number) {
    send(wire::Unload{number});
    while (!std::holds_alternative<wire::Unloaded>(next())) {
    }
  }
  // The exit status, once it has ended by itself; nothing: it has not within that time.
  std::optional<int> ended(double seconds) {
    const double end = now_us() + seconds * 1e6;
    while (channel_->receive(bytes_) != wire::Received::closed) {
      if (now_us() > end) return std::nullopt;
    }
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] data::Arena& arena() { return *arena_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Seconds of the processor that the worker used so far.
  [[nodiscard]] double cpu_seconds() const {
    std::ifstream file(str("/proc/", static_cast<int>(pid_), "/stat"));
    std::string text((std::istreambuf_iterator<char>(file)), {});
    text = text.substr(text.rfind(')') + 2);
    unsigned long user = 0, system = 0;
    std::sscanf(text.c_str(), "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

 private:
  pid_t pid_ = -1;
  std::optional<wire::Channel> channel_;
  std::shared_ptr<data::Arena> arena_;
  std::string bytes_;
};

// One batch of a function at a position, over and over.
class Caller {
 public:
  Caller(GpuWorker& worker, const Network& network, std::uint32_t function, std::uint32_t rows, std::uint64_t slices,
         std::uint64_t number)
      : worker_(worker), network_(network), function_(function), rows_(rows), slices_(slices), number_(number) {
    inputs_ = *worker.arena().allocate(rows * network.input_bytes());
    outputs_ = *worker.arena().allocate(rows * network.output_bytes() + 4096);
    std::memset(inputs_.data(), 0, inputs_.size());
  }

  void call() {
    std::vector<std::int64_t> shape = network_.input().shape;
    shape.insert(shape.begin(), rows_);
    begun_ = now_us();
    worker_.send(wire::Run{.batch = number_,
                           .function = function_,
                           .rows = rows_,
                           .positions = {0, slices_},
                           .inputs = {{{"x", network_.type, shape}, wire::kAllRows, inputs_.offset(), inputs_.size()}},
                           .outputs = {outputs_.offset(), outputs_.size()}});
  }
  // Once, and its answer.
  const wire::Ran& call_and_wait() {
    call();
    auto message = worker_.next();
    const auto* ran = std::get_if<wire::Ran>(&message);
    if (ran == nullptr) fail("the worker asked for something");
    answered(*ran, true);
    return last_;
  }
  // All rows, which may have come apart.
  [[nodiscard]] std::vector<float> answer() const {
    std::vector<float> out;
    for (const wire::Placed& placed : last_.outputs) {
      const auto* values = reinterpret_cast<const float*>(worker_.arena().base() + placed.offset);
      out.insert(out.end(), values, values + placed.size / sizeof(float));
    }
    return out;
  }
  void answered(const wire::Ran& ran, bool count) {
    if (!ran.error.empty()) fail(str(network_.name, ": ", ran.error));
    last_ = ran;
    if (!count) return;
    wall_us.push_back(now_us() - begun_);
    device_us.push_back(ran.on_device.to_ms() * 1e3);
  }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::uint32_t rows() const { return rows_; }
  [[nodiscard]] data::Block& inputs() { return inputs_; }
  [[nodiscard]] const wire::Ran& last() const { return last_; }
  std::vector<double> wall_us, device_us;

 private:
  GpuWorker& worker_;
  const Network& network_;
  std::uint32_t function_, rows_;
  std::uint64_t slices_, number_;
  double begun_ = 0;
  data::Block inputs_, outputs_;
  wire::Ran last_;
};

// All callers at once, each with its next batch as soon as it has an answer.
inline double play(GpuWorker& worker, std::vector<std::unique_ptr<Caller>>& callers, double seconds,
                   bool count = true) {
  const double begin = now_us(), end = begin + seconds * 1e6;
  std::size_t open = 0;
  for (auto& caller : callers) {
    caller->call();
    ++open;
  }
  while (open > 0) {
    auto message = worker.next();
    const auto* ran = std::get_if<wire::Ran>(&message);
    if (ran == nullptr) fail("the worker asked for something");
    for (auto& caller : callers) {
      if (caller->number() != ran->batch) continue;
      caller->answered(*ran, count);
      if (now_us() < end) {
        caller->call();
      } else {
        --open;
      }
    }
  }
  return (now_us() - begin) / 1e6;
}

inline double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace sluice::gpu_test
