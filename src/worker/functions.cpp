#include "worker/functions.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "worker/stopwatch.h"

namespace sluice::worker {
namespace {

// What this process holds that is not shared with others: tensors in the arena are not its own.
Bytes held_memory() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0, resident = 0, shared = 0;
  statm >> all >> resident >> shared;
  return Bytes((resident - shared) * ::sysconf(_SC_PAGESIZE));
}

}  // namespace

Result<std::unique_ptr<engine::Engine>> Functions::made(const wire::Load& load, int model) const {
  const bool on_gpu = load.device != wire::kHost;
  if (on_gpu && gpu_.slices == 0) {
    return Error{ErrorCode::unavailable, str("this worker runs on CPUs only, device ", load.device, " was asked for")};
  }
  auto engine = make_(load.body.runtime, on_gpu ? engine::Device::gpu : engine::Device::cpu);
  if (!engine) return engine.error();
  engine::LoadInto into{.threads = std::max(load.threads, 1u), .gpu = {}, .memory = load.memory, .model = model};
  if (on_gpu) {
    into.gpu = gpu_;
    into.gpu->device = load.device;
  }
  const Function function{.name = load.name, .inputs = load.inputs, .outputs = load.outputs};
  if (auto ready = (*engine)->load(function, load.body, into); !ready) return ready.error();
  return engine;
}

bool Functions::reserve(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  return loaded_.size() < wire::functions_max && loaded_.emplace(number, nullptr).second;
}

wire::Loaded Functions::load(const wire::Load& load, const wire::Descriptor& model) {
  const Stopwatch stopwatch;
  const Bytes before = held_memory();
  auto engine = made(load, model.get());
  wire::Loaded answer{.function = load.function, .error = engine ? "" : engine.error().message};
  std::shared_ptr<LoadedFunction> function;
  if (engine) {
    if ((*engine)->concurrent()) answer.batches = lanes_;
    const engine::Engine::OnGpu there = (*engine)->on_gpu();
    answer.form = there.form;
    answer.device_memory = there.memory;
    function = {new LoadedFunction, [this](LoadedFunction* one) {
                  std::unique_ptr<LoadedFunction> going(one);
                  if (dispose_) dispose_(std::move(going));
                }};
    function->engine = std::move(*engine);
  }
  {
    const std::lock_guard lock(mutex_);
    if (function != nullptr) {
      loaded_[load.function] = std::move(function);
    } else {
      loaded_.erase(load.function);
    }
  }
  answer.memory = std::max(held_memory() - before, Bytes());
  answer.took = stopwatch.elapsed();
  return answer;
}

wire::Moved moved(const wire::Move& move, engine::Engine& engine) {
  const Stopwatch stopwatch;
  const Status done = engine.move(move.level);
  return {.function = move.function, .error = done ? "" : done.error().message, .took = stopwatch.elapsed()};
}

std::shared_ptr<LoadedFunction> Functions::find(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  const auto it = loaded_.find(number);
  return it == loaded_.end() ? nullptr : it->second;
}

std::shared_ptr<LoadedFunction> Functions::take(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  const auto it = loaded_.find(number);
  if (it == loaded_.end() || it->second == nullptr) return nullptr;
  return std::move(loaded_.extract(it).mapped());
}

}  // namespace sluice::worker
