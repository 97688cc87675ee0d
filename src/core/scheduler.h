// Scheduler: the heart of Sluice as a deterministic value. Events and instants in, commands out; no clock, thread,
// lock, socket or log. Live server, simulator and replay drive this same class.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "core/books.h"
#include "core/control.h"
#include "core/state.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "policy/policy.h"

namespace sluice::core {

struct Limits {
  std::size_t requests_max = 1'000'000;  // in the system at once
  std::size_t queue_max = 100'000;       // invocations in one queue
  std::uint32_t attempts_max = 3;        // after failures of machines, where a stage says nothing
  std::size_t decisions_max = 100'000;   // of queues at one instant
};

// What the books of the past add up to; drivers and checkers read it.
struct Counters {
  std::uint64_t accepted = 0, rejected = 0, finished = 0, failed = 0, cancelled = 0;
  std::uint64_t batches = 0, invocations = 0, decisions = 0, retries = 0;
  PicoDollars billed;
  void visit(Archive& a) {
    a(accepted, rejected, finished, failed, cancelled, batches, invocations, decisions, retries, billed);
  }
};

class Scheduler {
 public:
  explicit Scheduler(policy::Policies policies, const Limits& limits = {});

  // REQUIRES: `now` never goes back. The same events and instants give the same commands.
  void observe(const Event& event, Time now);
  void decide(Time now, Commands& out);
  [[nodiscard]] std::optional<Time> next_wake() const;

  // The whole state. Loading one that was saved by the same scheduler with the same deployed applications changes no
  // later command; what cannot be loaded is an error and leaves the scheduler unusable.
  [[nodiscard]] std::string save();
  [[nodiscard]] Status load(std::string_view saved);

  [[nodiscard]] const Books& books() const { return books_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::size_t requests_in_system() const { return request_slots_.size(); }
  [[nodiscard]] std::size_t batches_running() const { return batch_slots_.size(); }
  // Empty if all invariants hold, else what is broken. Full: O(state).
  [[nodiscard]] std::string broken_invariant() const;

 private:
  // One handler per event (observe.cpp).
  void on(const ApplicationDeployed& event);
  void on(const ApplicationRemoved&) {}
  void on(const RequestAnnounced&) {}
  void on(const RequestArrived& event);
  void on(const RequestCancelled& event);
  void on(const BatchStarted&) {}
  void on(const BatchExpired& event);
  void on(const BatchFinished& event);
  void on(const BatchFailed& event);
  void on(const InstanceLoaded&) {}
  void on(const LoadFailed&) {}
  void on(const InstanceUnloaded&) {}
  void on(const InvokerJoined& event);
  void on(const InvokerChanged&) {}
  void on(const InvokerDraining& event);
  void on(const InvokerLost& event);
  void on(const ObjectLost&) {}
  void on(const ShareChanged&) {}
  void on(const ProfileChanged&) {}

  // Runs through workflows (runs.cpp). What follows from one step is put on `steps_` and done by settle(), so that long
  // chains of stages that run nothing need no deep stack.
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
  // The run is there and the stage still waits for this invocation.
  [[nodiscard]] bool expected(const policy::Waiting& member) const;
  void start_run(Slot request, std::uint32_t workflow, Slot parent, std::uint32_t parent_stage, std::uint32_t item);
  void predecessor_over(Slot run, std::uint32_t stage, bool skipped);
  [[nodiscard]] bool condition_holds(Slot run, std::uint32_t stage) const;
  void begin_stage(Slot run, std::uint32_t stage);
  void start_items(Slot run, std::uint32_t stage);
  void enqueue(Slot run, std::uint32_t stage, std::uint32_t item);
  void find_inputs(Slot run, std::uint32_t stage, policy::Waiting& waiting) const;
  void item_done(Slot run, std::uint32_t stage);
  void stage_over(Slot run, std::uint32_t stage, StageRun::State state);
  void run_over(Slot run);
  void invocation_failed(const policy::Waiting& member, const std::string& error, bool machine);
  void stage_failed(Slot run, std::uint32_t stage, const std::string& error);
  [[nodiscard]] bool is_within(Slot at, Slot run) const;
  [[nodiscard]] bool is_below(Slot at, std::uint32_t at_stage, Slot run, std::uint32_t stage) const;
  void note(Slot run, const std::vector<Verdict>& verdicts, const std::vector<FanOut>& fan_outs);
  void end_request(Slot request, RequestOutcome outcome, StageId stage, const std::string& error);
  void free_run(Slot run);
  void drop_waiting(Slot request);
  void set_timer(Time at, Slot run, std::uint32_t stage, std::uint32_t item, bool begins);

  // Batches (observe.cpp).
  [[nodiscard]] Slot find_batch(BatchId id) const;
  void free_batch(Slot batch, bool machine_alive);
  void fail_members(Slot batch, const std::string& error);
  void bill(Batch& batch, Duration held);

  // Decisions (decide.cpp).
  void admit(Time now, Commands& out);
  void fire_timers(Time now);
  void dispatch(Time now, Commands& out);
  [[nodiscard]] bool book(const policy::Proposals& proposals, const policy::Proposal& proposal, Commands& out);
  [[nodiscard]] policy::View view() const;
  void emit(Commands& out, Action action, const Work& work = {});
  void mark_busy(policy::QueueId queue);
  void mark_idle(policy::QueueId queue);

  [[nodiscard]] const Control& control(const Run& run) const {
    return controls_[requests_[run.request].application.index()];
  }
  [[nodiscard]] const ControlStage& control_stage(Slot run, std::uint32_t stage) const {
    return control(runs_[run]).workflows[runs_[run].workflow].stages[stage];
  }

  policy::Policies policies_;
  Limits limits_;
  Time now_;

  std::vector<policy::ApplicationModel> models_;  // ApplicationId is the position
  std::vector<Control> controls_;                 // likewise
  std::vector<policy::Queue> queues_;
  std::vector<std::uint32_t> busy_queues_;  // ascending
  Books books_;

  Slots<Request> requests_;
  std::unordered_map<RequestId, Slot> request_slots_;  // looked up, never walked
  Slots<Run> runs_;
  Slots<Batch> batches_;
  std::unordered_map<BatchId, Slot> batch_slots_;
  std::set<Timer> timers_;
  std::vector<Step> steps_;               // empty between events
  std::vector<RequestArrived> arrivals_;  // not yet admitted
  std::vector<Reply> answers_;            // to send at the next decision
  std::uint64_t next_invocation_ = 0, next_batch_ = 0, next_command_ = 0, next_timer_ = 0;
  bool changed_ = false;  // something happened that may let a batch start
  Counters counters_;
  policy::Proposals proposals_;  // scratch
  void visit(Archive& archive);
};

}  // namespace sluice::core
