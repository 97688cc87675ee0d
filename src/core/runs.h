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
#include "core/run_tree.h"
#include "domain/commands.h"
#include "domain/events.h"

namespace sluice::core {

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

class Runs {
 public:
  struct Ready {  // an invocation may start
    Slot request;
    Place place;
    InvokerId inputs_at;
    Bytes bytes;  // of its inputs
  };
  struct Skipped {  // a stage of the application's own workflow, which will not run
    Slot request;
    std::uint32_t stage;
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
  using Effect = std::variant<Ready, Skipped, Withdrawn, BeganAgain, Ended>;

  // `controls`: by ApplicationId; it outlives this.
  Runs(const std::vector<Control>& controls, std::uint32_t attempts_max)
      : controls_(controls), attempts_max_(attempts_max) {}

  // A request begins; `request` is the caller's number for it, in use until it has ended.
  void begin(Slot request, const RequestArrived& arrival, Time now);
  void cancel(Slot request, Time now);
  // Stages whose wait is over and invocations that are tried again.
  void fire(Time now);
  [[nodiscard]] std::optional<Time> next_timer() const { return runs_.next_timer(); }

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
  void stage_over(Slot run, std::uint32_t stage, StageState state);
  void run_over(Slot run);

  // Failing and ending (runs_end.cpp).
  void stage_failed(Slot run, std::uint32_t stage, const std::string& error);
  void end_at(Slot run, std::uint32_t stage, RequestOutcome outcome, const std::string& error);
  void end_request(Slot request, RequestOutcome outcome, StageId stage, const std::string& error);
  [[nodiscard]] bool mark_lost(Slot run, InvokerId invoker);
  [[nodiscard]] bool lose_objects(Slot request, InvokerId invoker);
  void begin_again(Slot request);
  void restart(Slot request);

  // What is known of conditions and fan-outs, of this run, of those around it and of those inside that have not begun
  // (foretold.cpp).
  void note(Slot run, const std::vector<Verdict>& verdicts, const std::vector<FanOut>& fan_outs);
  template <class Fact>
  void note(Slot run, const Fact& fact, std::vector<Fact> Foretold::*list);

  const std::vector<Control>& controls_;
  std::uint32_t attempts_max_;
  Time now_;
  RunTree runs_;
  std::vector<Walk> walks_;     // by request
  std::vector<Step> steps_;     // empty between calls
  std::vector<Slot> restarts_;  // requests to begin again; empty between calls
  std::vector<Effect> effects_;
  std::uint64_t retries_ = 0;
};

}  // namespace sluice::core
