// World: a cluster, its load and its luck in virtual time, driving the real scheduler. Events of one instant are
// observed together, then the scheduler decides once. Everything is drawn from keyed generators, so that a run repeats
// to the bit.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/scheduler.h"
#include "domain/experiment.h"
#include "policy/catalog.h"
#include "record/recorder.h"
#include "sim/faults.h"
#include "sim/observer.h"
#include "sim/result.h"

namespace sluice::sim {

class Oracles;
struct WorldState;

struct WorldOptions {
  std::string scheduler = "sluice";
  // Makes the scheduler's policies again and again (reloads); absent: those of `scheduler` in the catalog.
  std::function<policy::Policies()> policies;
  std::uint64_t seed = 1;
  core::Limits limits;
  policy::Prepared prepared;  // made with the experiment's parameters
  Faults faults;
  bool begins_empty = false;                             // counted instances: nothing is loaded at the start
  bool check_every_event = false;                        // full invariants
  std::optional<std::uint64_t> until_event;              // stop there
  std::function<void(std::uint64_t requests)> progress;  // now and then
  // What leaves the scheduler on its way to the world: for tests of the checker.
  std::function<void(Commands&)> tamper;
  Observer* observer = nullptr;          // outlives the run; null: nobody looks
  record::Recorder* recorder = nullptr;  // likewise: everything observed and decided
  Oracles* oracles = nullptr;            // likewise; what they find broken ends the run
};

class World {
 public:
  // An error if the experiment cannot run: unknown scheduler, a function without a profile or that fits no machine. The
  // experiment outlives the world.
  [[nodiscard]] static Result<std::unique_ptr<World>> make(const Experiment& experiment, WorldOptions options,
                                                           std::string_view trace_text = {});
  static void make(Experiment&&, WorldOptions, std::string_view = {}) = delete;
  ~World();
  // Runs to the end, or until an invariant breaks; then Result::violation says which.
  [[nodiscard]] RunResult run();

 private:
  explicit World(std::unique_ptr<WorldState> state);

  std::unique_ptr<WorldState> state_;
};

}  // namespace sluice::sim
