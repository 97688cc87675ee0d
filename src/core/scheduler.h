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
#include "core/instances.h"
#include "core/state.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "policy/policy.h"
#include "profile/learner.h"

namespace sluice::core {

struct Limits {
  std::size_t requests_max = 1'000'000;  // in the system at once
  std::size_t queue_max = 100'000;       // invocations in one queue
  std::uint32_t attempts_max = 3;        // after failures of machines, where a stage says nothing
  std::size_t decisions_max = 100'000;   // of queues at one instant
  std::size_t announced_max = 10'000;    // announcements whose instant has not come
  void visit(auto& archive) { archive(requests_max, queue_max, attempts_max, decisions_max, announced_max); }
};

// What the books of the past add up to; drivers and checkers read it.
struct Counters {
  std::uint64_t accepted = 0, rejected = 0, finished = 0, failed = 0, cancelled = 0;
  std::uint64_t batches = 0, invocations = 0, decisions = 0, retries = 0, loads = 0;
  std::uint64_t planned = 0, configuration_misses = 0;  // batches whose configuration was fixed earlier; that missed it
  PicoDollars billed;
  void visit(Archive& a) {
    a(accepted, rejected, finished, failed, cancelled, batches, invocations, decisions, retries, loads, planned,
      configuration_misses, billed);
  }
};

class Scheduler {
 public:
  // `transfer`: what moving inputs is believed to take.
  explicit Scheduler(policy::Policies policies, const Limits& limits = {}, const Transfer& transfer = {});

  // REQUIRES: `now` never goes back. The same events and instants give the same commands.
  void observe(const Event& event, Time now);
  void decide(Time now, Commands& out);
  [[nodiscard]] std::optional<Time> next_wake() const;

  // The whole state, applications included. Loading one that a scheduler with the same policies saved changes no later
  // command; what cannot be loaded is an error and leaves the scheduler unusable.
  [[nodiscard]] std::string save();
  [[nodiscard]] Status load(std::string_view saved);

  [[nodiscard]] const Books& books() const { return books_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::size_t requests_in_system() const { return request_slots_.size(); }
  [[nodiscard]] std::size_t batches_running() const { return batch_slots_.size(); }
  // Whether it was removed and nothing of it is left: no later command names its stages.
  [[nodiscard]] bool is_retired(ApplicationId id) const { return controls_[id.index()].retired; }
  // Empty if all invariants hold, else what is broken. Full: O(state).
  [[nodiscard]] std::string broken_invariant() const;

 private:
  [[nodiscard]] std::string broken_books() const;
  [[nodiscard]] std::string broken_queues() const;

  // One handler per event (observe.cpp).
  void on(const ApplicationDeployed& event);
  void on(const ApplicationRemoved& event);
  void on(const RequestAnnounced& event);
  void on(const RequestArrived& event);
  void on(const RequestCancelled& event);
  void on(const BatchExpired& event);
  void on(const BatchFinished& event);
  void on(const BatchFailed& event);
  void on(const InstanceLoaded& event);
  void on(const LoadFailed& event);
  void on(const InstanceUnloaded& event);
  void on(const InvokerJoined& event);
  void on(const InvokerChanged& event);
  void on(const InvokerDraining& event);
  void on(const InvokerLost& event);
  void on(const ObjectLost& event);
  void on(const ProfileChanged& event);

  // Applications (deploy.cpp, retire.cpp).
  void deploy(ApplicationId id, const std::shared_ptr<const Application>& application);
  void retire_removed();
  void retire(ApplicationId id);
  void add_retired(ApplicationId id, const std::shared_ptr<const Application>& application);
  void count_uses(Archive& archive);
  void believe(ApplicationId id, std::shared_ptr<const Application> application);
  void visit_applications(Archive& archive);
  // What is learned (learn.cpp).
  void learn(const Batch& batch, Duration measured);
  void visit_learned(Archive& archive);
  [[nodiscard]] std::vector<policy::SharedFunctionId> share_functions(ApplicationId id, const Application& application);

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
  [[nodiscard]] bool find_inputs(Slot run, std::uint32_t stage, policy::Waiting& waiting) const;
  void item_done(Slot run, std::uint32_t stage);
  void stage_over(Slot run, std::uint32_t stage, StageRun::State state);
  void run_over(Slot run);
  void invocation_failed(const policy::Waiting& member, const std::string& error, bool machine);
  void stage_failed(Slot run, std::uint32_t stage, const std::string& error);
  [[nodiscard]] bool is_within(Slot at, Slot run) const;
  [[nodiscard]] bool is_below(Slot at, std::uint32_t at_stage, Slot run, std::uint32_t stage) const;
  [[nodiscard]] RunPath path_of(Slot run) const;
  // What somebody in `run` knows, be it of this run, of those around it or of those inside that have not begun.
  void note(Slot run, const std::vector<Verdict>& verdicts, const std::vector<FanOut>& fan_outs);
  template <class Told>
  void note(Slot run, const Told& told, std::vector<Told> Foretold::*list);
  void note(StageRun& at, const Verdict& verdict);
  void note(StageRun& at, const FanOut& fan_out);
  void end_request(Slot request, RequestOutcome outcome, StageId stage, const std::string& error);
  // Because of a stage of a run, perhaps far inside.
  void end_at(Slot run, std::uint32_t stage, RequestOutcome outcome, const std::string& error);
  void free_run(Slot run);
  void drop_waiting(Slot request);
  // What is lost and promised (recover.cpp).
  [[nodiscard]] bool lose_objects(Slot request, InvokerId invoker);
  // Of all requests but those in `held`.
  void lose_objects_of(InvokerId invoker, const std::set<RequestId>& held = {});
  void restart(RequestId id);
  void promise(Slot request, const std::vector<policy::Reserved>& reserved);
  void end_promises(Slot request);
  void lose_promises_of(InvokerId invoker);
  void set_timer(Time at, Slot run, std::uint32_t stage, std::uint32_t item, bool begins);

  // Batches (observe.cpp).
  [[nodiscard]] Slot find_batch(BatchId id) const;
  [[nodiscard]] std::vector<BatchId> batches_at(InvokerId invoker) const;
  void free_batch(Slot batch, bool machine_alive);
  void fail_members(Slot batch, const std::string& error);
  void bill(Batch& batch, Duration held);
  void cancel_batches_of(RequestId request);
  void lose(InvokerId invoker);

  // What a joining machine says against the books (join.cpp).
  void forget_instances(InvokerId invoker);
  void compare_objects(const InvokerJoined& event);
  void compare_batches(const InvokerJoined& event);
  [[nodiscard]] bool is_same(const Batch& batch, InvokerId invoker, const RunningBatch& theirs) const;
  void adopt(InvokerId invoker, const RunningBatch& theirs);
  [[nodiscard]] InstanceId reenter(InstanceId id);

  // Instances (load.cpp).
  void add_instance(InvokerId invoker, const InstanceStatus& status);
  [[nodiscard]] bool take_memory(const policy::Instance& instance, Level level);
  void give_back_memory(const policy::Instance& instance, Level level);
  void open_room(policy::Instance& instance);
  void close_room(policy::Instance& instance);
  void leave_instance(InstanceId id);
  [[nodiscard]] bool make_room(const policy::Instance& instance, Level level, Commands& out);
  void load(const policy::Wishes::Load& wish, Commands& out);
  void evict(policy::Instance& instance, bool for_good, Commands& out);
  void prewarm(Commands& out);

  // Decisions (decide.cpp).
  void admit(Time now, Commands& out);
  void let_in(const RequestArrived& arrival, const policy::Admitted& admitted, Commands& out);
  void reject(const Reject& refused, Commands& out);
  void fire_timers(Time now);
  void dispatch(Time now, Commands& out);
  void ask_again();
  [[nodiscard]] InstanceId enter_instance(InvokerId invoker, const Claim& claim, const SlicePositions& positions);
  void drop(const policy::Proposals& proposals);
  [[nodiscard]] bool book(const policy::Proposals& proposals, const policy::Proposal& proposal, Commands& out);
  void start_members(Batch& batch, policy::QueueId queue, const policy::Proposal& proposal, StartBatch& start);
  [[nodiscard]] Duration expected_time(const policy::Queue& queue, const policy::Proposal& proposal) const;
  policy::Waiting take_waiting(policy::QueueId queue, std::size_t at);
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
  Transfer transfer_;
  Time now_;

  std::vector<policy::ApplicationModel> models_;   // ApplicationId is the position
  std::vector<Control> controls_;                  // likewise
  std::vector<policy::SharedFunction> functions_;  // SharedFunctionId is the position
  std::vector<std::uint32_t> load_failures_;       // in a row; likewise
  struct Learned {
    std::optional<profile::FunctionProfile> profile;  // as given; absent: nothing to learn from
    std::optional<Profile> replaced;                  // given after it was deployed
    profile::Learner learner, published;              // published: what planners believe
    std::uint64_t executions = 0;
  };
  std::vector<Learned> learned_;  // likewise
  std::vector<policy::Queue> queues_;
  std::set<std::uint32_t> free_queues_;     // of no application
  std::vector<std::uint32_t> busy_queues_;  // ascending
  std::vector<ApplicationId> leaving_;      // removed, not yet retired
  Books books_;
  Instances instances_;

  Slots<Request> requests_;
  std::unordered_map<RequestId, Slot> request_slots_;  // looked up, never walked
  Slots<Run> runs_;
  Slots<Batch> batches_;
  std::unordered_map<BatchId, Slot> batch_slots_;
  std::set<Timer> timers_;
  std::vector<Step> steps_;                  // empty between events
  std::vector<RequestArrived> arrivals_;     // not yet admitted
  std::vector<RequestAnnounced> announced_;  // as told; their instant has not come
  std::vector<RequestId> restarts_;          // to begin again; empty between events
  std::vector<Reply> answers_;               // to send at the next decision
  std::vector<ReleaseObjects> releases_;     // likewise, after the answers
  std::vector<CancelBatch> cancels_;         // likewise
  std::uint64_t next_invocation_ = 0, next_batch_ = 0, next_command_ = 0, next_timer_ = 0, next_reservation_ = 0;
  std::uint64_t next_run_ = 1;  // 0 is no run
  std::optional<Time> wake_;    // when a policy wants to be asked again
  bool changed_ = false;        // something happened that may let a batch start
  Counters counters_;
  policy::Proposals proposals_;  // scratch
  policy::Wishes wishes_;        // scratch
  void visit(Archive& archive);
};

}  // namespace sluice::core
