// Functions: what a worker process has loaded, by the numbers that the server chose. A function that is unloaded stays
// until its last batch is over.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/engine.h"
#include "wire/channel.h"
#include "wire/messages.h"

namespace sluice::worker {

using MakeEngine = std::function<Result<std::unique_ptr<engine::Engine>>(Runtime, engine::Device)>;

struct LoadedFunction {
  std::unique_ptr<engine::Engine> engine;
  std::mutex one_at_a_time;    // for engines that are not concurrent()
  std::function<void()> gone;  // called when all of it is gone
  ~LoadedFunction() {
    engine.reset();
    if (gone) gone();
  }
};

class Functions {
 public:
  // `gpu`: what the process may use; of no slices: CPUs alone.
  Functions(MakeEngine make, std::uint32_t lanes, engine::Gpu gpu) : make_(std::move(make)), lanes_(lanes), gpu_(gpu) {}

  // How functions go when nobody uses them any more; by default at once, wherever that is.
  using Dispose = std::function<void(std::unique_ptr<LoadedFunction>)>;
  void dispose_by(Dispose dispose) { dispose_ = std::move(dispose); }

  // Takes a number for a function that is going to be loaded. False: it is taken, or there are too many functions.
  [[nodiscard]] bool reserve(std::uint32_t number);
  // Makes and loads it; the answer for the server, with an error if that failed: then the number is free again. Any
  // thread. `model`: its file, if that came along. REQUIRES: the number is reserved.
  [[nodiscard]] wire::Loaded load(const wire::Load& load, const wire::Descriptor& model);
  // None: no such function is loaded.
  [[nodiscard]] std::shared_ptr<LoadedFunction> find(std::uint32_t number);
  // Forgets and returns it; none: as above.
  [[nodiscard]] std::shared_ptr<LoadedFunction> take(std::uint32_t number);

 private:
  [[nodiscard]] Result<std::unique_ptr<engine::Engine>> made(const wire::Load& load, int model) const;

  MakeEngine make_;
  std::uint32_t lanes_;
  engine::Gpu gpu_;
  Dispose dispose_;  // changed while nothing is loaded, or nothing runs
  std::mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<LoadedFunction>> loaded_;  // guarded by mutex_; null: being loaded
};

// Moves a function, and the answer for the server. REQUIRES: no batch of it is under way.
[[nodiscard]] wire::Moved moved(const wire::Move& move, engine::Engine& engine);

}  // namespace sluice::worker
