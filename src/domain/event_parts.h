// What events and commands are made of: levels, outcomes, slice positions, running batches, verdicts. Plain data.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/configuration.h"
#include "domain/ids.h"
#include "domain/run_path.h"

namespace sluice {

// How far an instance is loaded; raising the level is a cold start.
enum class Level : std::uint8_t { none, process, host, device };
constexpr Level last_of(Level) {
  return Level::device;
}

enum class Outcome : std::uint8_t {
  succeeded,
  failed,
  timed_out,
  not_run,  // an object that it reads was not where it should be: nothing ran
};
constexpr Outcome last_of(Outcome) {
  return Outcome::not_run;
}

// Slices of one GPU of an invoker, a bit each; none on CPUs.
struct SlicePositions {
  std::uint16_t gpu = 0;
  std::uint64_t slices = 0;
  friend bool operator==(const SlicePositions&, const SlicePositions&) = default;
  void visit(auto& archive) { archive(gpu, slices); }
};

struct InstanceStatus {
  InstanceId id;
  ApplicationId application;  // one of those that have the function
  FunctionId function;
  Level level = Level::none;       // what is ready
  std::uint16_t gpu = 0;           // level device: on which GPU of the invoker
  std::uint32_t batches = 1;       // it can run at once
  std::optional<Level> moving_to;  // the level it is on its way to
  friend bool operator==(const InstanceStatus&, const InstanceStatus&) = default;
  void visit(auto& archive) { archive(id, application, function, level, gpu, batches, moving_to); }
};

// A batch that a joining invoker runs, as its StartBatch said.
struct RunningBatch {
  BatchId id;
  InstanceId instance;
  Configuration configuration;
  SlicePositions positions;
  std::vector<InvocationId> invocations;  // oldest first
  friend bool operator==(const RunningBatch&, const RunningBatch&) = default;
  void visit(auto& archive) { archive(id, instance, configuration, positions, invocations); }
};

// Whether the condition of a stage holds. Conditions are evaluated where the data are: as soon as all that one reads is
// known, whoever knows it says so, with the request or with the result of an invocation. That may be before the run
// begins (its item is known) and after others in it are over (what their items left is complete); what is said last
// counts.
struct Verdict {
  StageId stage;
  bool holds = false;
  RunPath path = {};
  friend bool operator==(const Verdict&, const Verdict&) = default;
  void visit(auto& archive) { archive(stage, holds, path); }
};

// How many items the foreach of a stage has, known likewise.
struct FanOut {
  StageId stage;
  std::uint32_t items = 0;
  RunPath path = {};
  friend bool operator==(const FanOut&, const FanOut&) = default;
  void visit(auto& archive) { archive(stage, items, path); }
};

}  // namespace sluice
