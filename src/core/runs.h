// Runs: the workflow engine, a value. Results, losses and cancellations go in; invocations that are ready and requests
// that are over come out, as effects in the order in which they came about. It knows workflows and instants, and
// nothing of machines, queues or policies; the scheduler does what the effects ask for.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/archive.h"
#include "core/control.h"
#include "core/ledger.h"
#include "core/slots.h"
#include "domain/commands.h"
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

// Where the outputs of a stage are: mostly on one invoker, those of a foreach on several.
class Outputs {
 public:
  void add(InvokerId invoker, Bytes bytes);
  void add(const Outputs& others);
  // Whether some of them were there; they are lost.
  bool lose(InvokerId invoker);
  [[nodiscard]] bool lost() const { return lost_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }  // of all of them
  // The invoker with the most of them, ties to the first; none: nothing is anywhere.
  [[nodiscard]] InvokerId at() const { return most_; }
  [[nodiscard]] Bytes most() const { return most_bytes_; }
  void visit(Archive& a) { a(most_, most_bytes_, bytes_, lost_, others_); }

 private:
  InvokerId most_;
  Bytes most_bytes_, bytes_;
  bool lost_ = false;
  std::vector<std::pair<InvokerId, Bytes>> others_;
};

// One stage of one run.
struct StageRun {
  enum class State : std::uint8_t { blocked, waiting, queued, running, done, skipped, failed };
  friend constexpr State last_of(State) { return State::failed; }
  enum class Verdict : std::uint8_t { unknown, holds, fails };
  friend constexpr Verdict last_of(Verdict) { return Verdict::fails; }
  State state = State::blocked;
  Verdict verdict = Verdict::unknown;  // of its condition
  bool items_known = false;
  bool called = false;         // as a handler: it runs whatever its predecessors and condition say
  std::uint16_t finished = 0;  // predecessors that are over, skipped ones included
  std::uint16_t skipped = 0;   // of those
  std::uint32_t items = 1;     // of a foreach
  std::uint32_t items_started = 0, items_done = 0;
  Outputs outputs;
  [[nodiscard]] bool over() const { return state == State::done || state == State::skipped || state == State::failed; }
  void visit(Archive& a) {
    a(state, verdict, items_known, called, finished, skipped, items, items_started, items_done, outputs);
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

// What is known of a run that has not begun.
struct Foretold {
  std::vector<Verdict> verdicts;
  std::vector<FanOut> fan_outs;
  void visit(Archive& a) { a(verdicts, fan_outs); }
};

// All runs of one request.
struct Walk {
  RequestId id;
  ApplicationId application;
  Slot root = kNoSlot;            // none: the request is over
  std::vector<Verdict> verdicts;  // that came with it: needed again if it begins again
  std::vector<FanOut> fan_outs;
  std::map<RunPath, Foretold> foretold;
  std::vector<InvokerId> left_at;  // invokers that hold something it made, or were told to make something; sorted
  std::uint32_t restarts = 0;
  bool restarting = false;  // is in Runs::restarts_
  // Invocations that have run, or run, and must not run twice; also those of runs that are over.
  std::uint32_t unrepeatable = 0;
  StageId unrepeatable_stage;  // one of them; of the application's own workflow
  void visit(Archive& a) {
    a(id, application, root, verdicts, fan_outs, foretold, left_at, restarts, unrepeatable, unrepeatable_stage);
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

class Runs {
 public:
  struct Ready {  // an invocation may start
    Slot request;
    Place place;
    InvokerId inputs_at;
    Bytes bytes;  // of its inputs
  };
  struct Withdrawn {  // nobody waits any more for some of the request's invocations: see expects()
    Slot request;
  };
  struct BeganAgain {  // nobody waits any more for what it had begun before
    Slot request;
  };
  struct Ended {
    Slot request;
    RequestOutcome outcome;
    StageId stage;  // where it failed; of the application's own workflow
    std::string error;
    std::vector<InvokerId> left_at;  // what it made there may go
    std::uint64_t outermost = 0;     // finished: number of the outermost run
  };
  using Effect = std::variant<Ready, Withdrawn, BeganAgain, Ended>;

  // `controls`: by ApplicationId; it outlives this.
  Runs(const std::vector<Control>& controls, std::uint32_t attempts_max)
      : controls_(controls), attempts_max_(attempts_max) {}

  // A request begins; `request` is the caller's number for it, in use until it has ended.
  void begin(Slot request, const RequestArrived& arrival, Time now);
  void cancel(Slot request, Time now);
  // Stages whose wait is over and invocations that are tried again.
  void fire(Time now);
  [[nodiscard]] std::optional<Time> next_timer() const;

  // An invocation runs or has ended well on an invoker, or has failed: because of its machine, or by itself. Those that
  // nobody expects any more change nothing.
  void started(const Place& place, InvokerId invoker);
  void succeeded(const Place& place, InvokerId invoker, const InvocationResult& result, Time now);
  void failed(const Place& place, const std::string& error, bool machine, Time now);
  // It was to run and did not begin to: that is no failure.
  void expired(const Place& place, Time now);
  // Likewise, because an object that it reads is gone: tried again a few times, from the beginning if the object is
  // known to be lost.
  void not_run(const Place& place, const std::string& error, Time now);
  // Without another attempt.
  void fail_stage(const Place& place, const std::string& error, Time now);
  void end(const Place& place, RequestOutcome outcome, const std::string& error, Time now);

  // What requests left at an invoker is gone: of one, or of all but those in `held`.
  void lose(Slot request, InvokerId invoker, Time now);
  void lose(InvokerId invoker, const std::set<RequestId>& held, Time now);
  // An invoker holds something the request made, or will: it is told when the request ends.
  void hold(Slot request, InvokerId invoker);

  // What came about since they were cleared. Handling one may cause more, at the end.
  [[nodiscard]] std::vector<Effect>& effects() { return effects_; }

  // The run is there and the stage still waits for this invocation.
  [[nodiscard]] bool expects(const Place& place) const;
  // The request of a run; nothing if the run is over.
  [[nodiscard]] std::optional<Slot> request_of(const Place& place) const;
  [[nodiscard]] const ControlStage& control_of(const Place& place) const;
  [[nodiscard]] bool in_outermost_run(const Place& place) const { return runs_[place.run].parent == kNoSlot; }
  // Says which run and stage of it a member of a batch at an invoker is of, and which other invokers have to do with
  // its request.
  void name(const Place& place, InvokerId invoker, BatchMember& out) const;
  [[nodiscard]] std::uint64_t retries() const { return retries_; }

  void visit(Archive& archive);

 private:
  // What follows from one step is put on `steps_` and done by settle(), so that long chains of stages that run nothing
  // need no deep stack.
  struct Step {
    enum class Kind : std::uint8_t { predecessor_over, predecessor_skipped, begin } kind;
    Slot run;
    std::uint32_t stage;
    std::uint32_t generation;  // of the run
  };
  void settle();
  [[nodiscard]] bool alive(Slot run, std::uint32_t generation) const {
    return runs_[run].used && runs_[run].generation == generation;
  }
  [[nodiscard]] const ControlWorkflow& workflow(const Run& run) const {
    return controls_[walks_[run.request].application.index()].workflows[run.workflow];
  }
  [[nodiscard]] const ControlStage& control(Slot run, std::uint32_t stage) const {
    return workflow(runs_[run]).stages[stage];
  }
  [[nodiscard]] StageRun& at(const Place& place) { return runs_[place.run].stages[place.stage]; }

  // Moving on (runs.cpp).
  [[nodiscard]] Slot start_run(Slot request, std::uint32_t workflow, Slot parent, std::uint32_t parent_stage,
                               std::uint32_t item);
  void predecessor_over(Slot run, std::uint32_t stage, bool skipped);
  [[nodiscard]] bool condition_holds(Slot run, std::uint32_t stage) const;
  void begin_stage(Slot run, std::uint32_t stage);
  void start_items(Slot run, std::uint32_t stage);
  void get_ready(const Place& place);
  [[nodiscard]] const StageRun* item_source(Slot run, std::uint32_t stage) const;
  void pass_on(Slot run, std::uint32_t stage);
  void item_done(Slot run, std::uint32_t stage);
  void stage_over(Slot run, std::uint32_t stage, StageRun::State state);
  void run_over(Slot run);

  // Failing and ending (runs_end.cpp).
  void stage_failed(Slot run, std::uint32_t stage, const std::string& error);
  void end_at(Slot run, std::uint32_t stage, RequestOutcome outcome, const std::string& error);
  void end_request(Slot request, RequestOutcome outcome, StageId stage, const std::string& error);
  void free_runs(Slot run);
  void unlink(Slot slot);
  [[nodiscard]] bool mark_lost(Slot run, InvokerId invoker);
  [[nodiscard]] bool lose_objects(Slot request, InvokerId invoker);
  [[nodiscard]] StageId outermost_stage(const Place& place) const;
  void begin_again(Slot request);
  void restart(Slot request);
  void set_timer(Time time, const Place& place, bool begins);

  // What is known of conditions and fan-outs, of this run, of those around it and of those inside that have not begun
  // (told.cpp).
  [[nodiscard]] RunPath path_of(Slot run) const;
  void note(Slot run, const std::vector<Verdict>& verdicts, const std::vector<FanOut>& fan_outs);
  template <class Told>
  void note(Slot run, const Told& told, std::vector<Told> Foretold::*list);

  const std::vector<Control>& controls_;
  std::uint32_t attempts_max_;
  Time now_;
  Slots<Run> runs_;
  std::vector<Walk> walks_;  // by request
  std::set<Timer> timers_;
  std::vector<Step> steps_;     // empty between calls
  std::vector<Slot> restarts_;  // requests to begin again; empty between calls
  std::vector<Effect> effects_;
  std::uint64_t next_run_ = 1;  // 0 is no run
  std::uint64_t next_timer_ = 0, retries_ = 0;
};

}  // namespace sluice::core
