// Scheduler: the heart of Sluice as a deterministic value. Events and instants in, commands out; no clock, thread,
// lock, socket or log. Live server, simulator and replay drive this same class.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/applications.h"
#include "core/batches.h"
#include "core/books.h"
#include "core/demands.h"
#include "core/loads.h"
#include "core/queues.h"
#include "core/requests.h"
#include "core/runs.h"
#include "core/tenant_books.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "policy/policy.h"

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

// The invocation that waits or runs.
[[nodiscard]] inline Place place_of(const policy::Waiting& waiting) {
  return {waiting.run, waiting.generation, waiting.stage, waiting.item, waiting.attempts};
}

class Scheduler {
 public:
  // `transfer`: what moving inputs is believed to take.
  explicit Scheduler(policy::Policies policies, const Limits& limits = {}, const Transfer& transfer = {});
  Scheduler(const Scheduler&) = delete;  // its parts know each other
  Scheduler& operator=(const Scheduler&) = delete;

  // REQUIRES: `now` never goes back. The same events and instants give the same commands.
  void observe(const Event& event, Time now);
  void decide(Time now, Commands& out);
  [[nodiscard]] std::optional<Time> next_wake() const;

  // The whole state, applications included. Loading one that a scheduler with the same policies saved changes no later
  // command; what cannot be loaded is an error and leaves the scheduler unusable.
  [[nodiscard]] std::string save();
  [[nodiscard]] Status load(std::string_view saved);

  [[nodiscard]] const Books& books() const { return books_; }
  [[nodiscard]] Counters counters() const {
    Counters out = counters_;
    out.retries = runs_.retries();
    return out;
  }
  [[nodiscard]] std::size_t requests_in_system() const { return requests_.size(); }
  [[nodiscard]] std::size_t batches_running() const { return batches_.size(); }
  // Whether it was removed and nothing of it is left: no later command names its stages.
  [[nodiscard]] bool is_retired(ApplicationId id) const { return applications_.is_retired(id); }
  // What was deployed, by ApplicationId, and what planners believe of it now: its profiles as executions corrected
  // them.
  [[nodiscard]] std::size_t applications() const { return applications_.models().size(); }
  [[nodiscard]] const std::shared_ptr<const Application>& deployed(ApplicationId id) const {
    return applications_.controls()[id.index()].application;
  }
  [[nodiscard]] const std::shared_ptr<const Application>& believed(ApplicationId id) const {
    return applications_.models()[id.index()].application;
  }
  [[nodiscard]] Time now() const { return now_; }  // the last instant it was told
  // Empty if all invariants hold, else what is broken. Full: O(state).
  [[nodiscard]] std::string broken_invariant() const;

 private:
  [[nodiscard]] std::string broken_books() const;
  [[nodiscard]] std::string broken_tenants() const;
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
  void on(const QuotaChanged& event);

  // What the workflow engine asks for (effects.cpp).
  void follow();
  void follow(const Runs::Ready& ready);
  void follow(const Runs::Withdrawn& withdrawn);
  void follow(const Runs::BeganAgain& again);
  void follow(Runs::Ended& ended);
  void drop_waiting(Slot slot);
  void cancel_batches_of(const Request& request);

  // Batches and machines (observe.cpp).
  std::vector<policy::Waiting> end_batch(Slot slot, bool machine_alive);
  void fail_members(Slot slot, const std::string& error);
  void bill(Batch& batch, Duration held);
  void hold(RequestId request, InvokerId invoker);
  void learn(const Batch& batch, Duration measured);
  void lose(InvokerId invoker);

  // What a joining machine says against the books (join.cpp).
  void compare_objects(const InvokerJoined& event);
  void compare_batches(const InvokerJoined& event);
  void adopt(InvokerId invoker, const RunningBatch& theirs);

  // Decisions (decide.cpp).
  void prewarm(Commands& out);
  void retire_removed();
  void admit(Time now, Commands& out);
  void let_in(const RequestArrived& arrival, const policy::Admitted& admitted, Commands& out);
  void reject(const Reject& refused, Commands& out);
  void dispatch(Time now, Commands& out);
  void drop(const policy::Proposals& proposals);
  enum class Booked : std::uint8_t { nothing, load, batch };
  [[nodiscard]] Booked book(const policy::Proposals& proposals, const policy::Proposal& proposal, Commands& out);
  [[nodiscard]] bool book_batch(const policy::Proposals& proposals, const policy::Proposal& proposal, Commands& out);
  [[nodiscard]] bool book_load(policy::SharedFunctionId function, const policy::Proposal& proposal, Commands& out);
  void start_members(Slot slot, policy::QueueId queue, const policy::Proposal& proposal, StartBatch& start);
  [[nodiscard]] Duration expected_time(const policy::Queue& queue, const policy::Proposal& proposal) const;
  policy::Waiting take_waiting(policy::QueueId queue, std::size_t at);
  [[nodiscard]] policy::View view() const;
  void emit(Commands& out, Action action, const Work& work = {});

  policy::Policies policies_;
  Limits limits_;
  Transfer transfer_;
  Time now_;

  Queues queues_;
  TenantBooks tenants_;
  Applications applications_;
  Books books_;
  Loads loads_;
  Demands demands_;
  Requests requests_;
  Runs runs_;
  Batches batches_;
  std::vector<RequestArrived> arrivals_;     // not yet admitted
  std::vector<RequestAnnounced> announced_;  // as told; their instant has not come
  std::vector<Reply> answers_;               // to send at the next decision
  std::vector<ReleaseObjects> releases_;     // likewise, after the answers
  std::vector<CancelBatch> cancels_;         // likewise
  std::uint64_t next_invocation_ = 0, next_command_ = 0;
  std::optional<Time> wake_;        // when dispatch wants to be asked again
  std::optional<Time> prewarm_at_;  // when prewarming is asked again
  Time prewarm_after_;              // and not before
  bool changed_ = false;            // something happened that may let a batch start
  Counters counters_;
  policy::Proposals proposals_;  // scratch
  policy::Wishes wishes_;        // scratch
  void visit(Archive& archive);
  void count_uses(Archive& archive);
};

}  // namespace sluice::core
