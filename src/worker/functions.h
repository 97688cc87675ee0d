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
#include "wire/messages.h"

namespace sluice::worker {

using MakeEngine = std::function<Result<std::unique_ptr<engine::Engine>>(Runtime)>;

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
  Functions(MakeEngine make, std::uint32_t lanes) : make_(std::move(make)), lanes_(lanes) {}

  // Takes a number for a function that is going to be loaded. False: it is taken, or there are too many functions.
  [[nodiscard]] bool reserve(std::uint32_t number);
  // Makes and loads it; the answer for the server, with an error if that failed: then the number is free again. Any
  // thread. REQUIRES: the number is reserved.
  [[nodiscard]] wire::Loaded load(const wire::Load& load);
  // None: no such function is loaded.
  [[nodiscard]] std::shared_ptr<LoadedFunction> find(std::uint32_t number);
  // Forgets and returns it; none: as above.
  [[nodiscard]] std::shared_ptr<LoadedFunction> take(std::uint32_t number);

 private:
  [[nodiscard]] Result<std::unique_ptr<engine::Engine>> made(const wire::Load& load) const;

  MakeEngine make_;
  std::uint32_t lanes_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<LoadedFunction>> loaded_;  // guarded by mutex_; null: being loaded
};

}  // namespace sluice::worker
