// RunTree: the runs of all requests, each inside the run whose foreach started it, and the timers of their stages. It
// keeps places and links only; how a run moves on is the business of Runs (runs.h).
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "core/ledger.h"
#include "core/outputs.h"
#include "core/slots.h"
#include "domain/events.h"

namespace sluice::core {

// One invocation: a stage of a run, or one item of it.
struct Place {
  Slot run = kNoSlot;
  std::uint32_t generation = 0;  // of the run's slot
  std::uint32_t stage = 0, item = 0;
  std::uint32_t attempts = 0;  // of this invocation that failed
  void visit(Archive& a) { a(run, generation, stage, item, attempts); }
};

enum class StageState : std::uint8_t {
  blocked,
  waiting,
  queued,
  running,
  done,
  skipped,
  failed
};  // from done on it is over
constexpr StageState last_of(StageState) {
  return StageState::failed;
}

// One stage of one run.
struct StageRun {
  enum class Condition : std::uint8_t { unknown, holds, fails };
  friend constexpr Condition last_of(Condition) { return Condition::fails; }
  StageState state = StageState::blocked;
  Condition condition = Condition::unknown;
  bool items_known = false;
  bool called = false;         // as a handler: it runs whatever its predecessors and condition say
  std::uint16_t finished = 0;  // predecessors that are over, skipped ones included
  std::uint16_t skipped = 0;   // of those
  std::uint32_t items = 1;     // of a foreach
  std::uint32_t items_started = 0, items_done = 0;
  Outputs outputs;
  [[nodiscard]] bool over() const { return state >= StageState::done; }
  void visit(Archive& a) {
    a(state, condition, items_known, called, finished, skipped, items, items_started, items_done, outputs);
  }
};

// One way through a workflow: of a request, or of one item of a foreach with a workflow inside.
struct Run {
  bool used = false;
  std::uint32_t generation = 0;  // grows with every use of the slot, so that what is left of an earlier one is known
  std::uint64_t number = 0;      // never used again
  Slot request = kNoSlot;
  std::uint32_t workflow = 0;  // of the application's Control
  Slot parent = kNoSlot;       // the run whose foreach started this one
  std::uint32_t parent_stage = 0, item = 0;
  Slot first_child = kNoSlot, next = kNoSlot, previous = kNoSlot;  // runs it started; runs with the same parent
  std::uint32_t open = 0;                                          // exit stages that are not over
  std::vector<StageRun> stages;
  Ledger<Time> timers;  // when they fire, by Timer::order
  void visit(Archive& a) {
    a(used, generation, number, request, workflow, parent, parent_stage, item, first_child, next, previous, open,
      stages, timers);
  }
};

// A stage that starts, or tries again, at an instant.
struct Timer {
  Time at;
  Place place;
  std::uint64_t order = 0;  // of equal instants: as set
  bool begins = false;      // the stage begins; else one invocation of it tries again
  friend bool operator<(const Timer& a, const Timer& b) { return std::pair(a.at, a.order) < std::pair(b.at, b.order); }
  void visit(Archive& a) { a(at, place, order, begins); }
};

class RunTree {
 public:
  [[nodiscard]] Run& operator[](Slot run) { return runs_[run]; }
  [[nodiscard]] const Run& operator[](Slot run) const { return runs_[run]; }
  // The use of the slot that `generation` was of is not over.
  [[nodiscard]] bool alive(Slot run, std::uint32_t generation) const {
    return runs_[run].used && runs_[run].generation == generation;
  }
  // Through which items one gets to it.
  [[nodiscard]] RunPath path_of(Slot run) const;
  // The stage of the request's outermost run in which, however deep, the place is.
  [[nodiscard]] StageId outermost_stage(const Place& place) const;

  // A run without stages yet, inside of `parent`, if there is one. Runs may move in memory.
  [[nodiscard]] Slot add(Slot request, Slot parent, std::uint32_t parent_stage, std::uint32_t item);
  // A run, those inside of it and their timers are no more.
  void remove(Slot run);
  // What stages of a run started inside of it is no more: of one stage.
  void remove_inside(Slot run, std::uint32_t stage);

  void set_timer(Time at, const Place& place, bool begins);
  [[nodiscard]] std::optional<Time> next_timer() const;
  // The first timer that is due, which is taken out; nothing: none is.
  [[nodiscard]] std::optional<Timer> take_due(Time now);

  void visit_runs(Archive& archive) { archive(runs_); }
  void visit_timers(Archive& archive);

 private:
  void unlink(Slot slot);
  void free(Slot run);

  Slots<Run> runs_;
  std::set<Timer> timers_;
  std::uint64_t next_run_ = 1;  // 0 is no run
  std::uint64_t next_timer_ = 0;
};

}  // namespace sluice::core
