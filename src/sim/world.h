// World: a cluster, its load and its luck in virtual time, driving the real scheduler. Events of one instant are
// observed together, then the scheduler decides once. Everything is drawn from keyed generators, so that a run repeats
// to the bit.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/rng.h"
#include "core/scheduler.h"
#include "domain/experiment.h"
#include "policy/catalog.h"
#include "profile/function_profile.h"
#include "record/recorder.h"
#include "sim/faults.h"
#include "sim/machines.h"
#include "sim/observer.h"
#include "sim/result.h"
#include "workload/stream.h"

namespace sluice::sim {

class Oracles;

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
  // An error if the experiment cannot run: unknown scheduler, a function without a profile or that fits no machine.
  [[nodiscard]] static Result<std::unique_ptr<World>> make(const Experiment& experiment, WorldOptions options,
                                                           std::string_view trace_text = {});
  // Runs to the end, or until an invariant breaks; then Result::violation says which.
  [[nodiscard]] RunResult run();

 private:
  struct Deployment {
    ApplicationId id;
    TenantId tenant;
    std::shared_ptr<const Application> application;
    std::vector<profile::FunctionProfile> profiles;
    std::vector<std::uint32_t> functions;  // by FunctionId: its number among all different ones
    Duration objective;
    std::vector<std::string> stages;  // of its plan
  };
  enum class Kind : std::uint8_t {
    arrival,
    finish,
    fail,
    expired,
    lost,
    back,
    cancel,
    stopped,
    loaded,
    unloaded,
    unbound
  };
  struct Happening {
    Time at;
    std::uint64_t order = 0;
    Kind kind = Kind::arrival;
    std::uint64_t subject = 0;  // a batch, an invoker, a request, a command about an instance or an application
    bool operator>(const Happening& other) const { return std::pair(at, order) > std::pair(other.at, other.order); }
  };
  struct Running {
    StartBatch start;
    Time decided, started;
    Duration held, transfer, measured;
    bool gone = false;  // its machine died, or it was cancelled
  };
  struct Asked {
    Time at, deadline;
    std::uint32_t application = 0;
    bool accepted = false, cold = false;
  };
  // A load or an eviction on its way.
  struct Move {
    InvokerId invoker;
    InstanceId instance;
    Machines::Loaded becomes;
    std::uint64_t epoch = 0;
    Time begun;
    bool fails = false;
  };

  World(const Experiment& experiment, WorldOptions options, workload::ArrivalStream stream);
  [[nodiscard]] Status deploy();
  void number_functions();
  [[nodiscard]] std::shared_ptr<const Application> believed(const Deployment& d) const;
  [[nodiscard]] std::uint32_t function_of(const StartBatch& command) const {
    return deployments_[command.application.index()].functions[command.function.index()];
  }
  [[nodiscard]] policy::Policies make_policies() const;
  [[nodiscard]] std::unique_ptr<core::Scheduler> fresh_scheduler() const;
  void join(std::size_t machine, Time now, const std::vector<InstanceStatus>& instances = {});
  void schedule(Time at, Kind kind, std::uint64_t subject);
  void schedule_arrival();
  void tell(const Event& event, Time now);
  void decide(Time now);
  void drained();
  void reload();
  void compare_with_shadow(Time now);
  void violate(std::string what);
  void remember(const Event& event, Time now);

  // What happens (happen.cpp).
  void happen(const Happening& happening);
  void arrive(Time now);
  void finish(Time now, std::uint64_t batch, bool fails);
  void expire(Time now, std::uint64_t batch);
  void bring_own_terms(RequestArrived& event, Time now);
  void moved(Time now, std::uint64_t move, bool up);
  void strike(Time now);
  void crash(Time now);
  void change_machine(Time now);
  void take_down(std::size_t machine, Time now);
  void break_link(Time now);
  [[nodiscard]] InvokerJoined joined(std::size_t machine) const;
  void lose_object(Time now);
  void change_profile(Time now);
  void change_quota(Time now);
  [[nodiscard]] bool can_run(const QuotaChanged& quota) const;
  [[nodiscard]] bool strikes(double probability) { return !healed_ && probability > 0 && luck_.chance(probability); }

  // What commands do (act.cpp).
  void act(const Command& command, Time now);
  void start(const StartBatch& command, const Work& work, Time now);
  void load(const LoadInstance& command, Time now);
  void evict(const EvictInstance& command, Time now);
  void cancel(const CancelBatch& command, Time now);
  void answered(RequestId request, RequestOutcome outcome, std::optional<RejectReason> rejected, PicoDollars cost,
                Time now);
  [[nodiscard]] profile::Latency believed(const StartBatch& command) const;
  [[nodiscard]] Duration execution(const StartBatch& command, Time now) const;
  [[nodiscard]] Duration thinking(const Work& work) const;

  // Tell the observer, if there is one (told.cpp).
  void report(const Running& running, ActionEnd end, Time now) const;
  void report(RequestId request, const Asked& asked, Ending ending, std::optional<RejectReason> reason,
              PicoDollars cost) const;
  void report(const Move& move, ActionKind kind, ActionEnd end, Time now) const;
  [[nodiscard]] std::string_view stage_name(const StartBatch& command) const;

  const Experiment& experiment_;
  WorldOptions options_;
  workload::ArrivalStream stream_;
  std::optional<workload::Arrival> next_arrival_;
  std::vector<Deployment> deployments_;
  std::unique_ptr<core::Scheduler> scheduler_;
  std::unique_ptr<core::Scheduler> shadow_;  // the one that was saved last, for a few decisions more
  std::uint32_t shadow_decisions_ = 0;
  Machines machines_;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> heap_;
  std::uint64_t next_order_ = 0, next_request_ = 0, next_move_ = 0;
  std::unordered_map<std::uint64_t, Running> running_;  // looked up, never walked
  std::vector<BatchId> running_order_;                  // what runs, in the order of starting; for crashes
  std::unordered_map<std::uint64_t, Move> moves_;
  std::unordered_map<std::uint64_t, Asked> asked_;
  std::vector<std::uint64_t> sessions_;       // of every machine: joins since it booted, but the first
  std::vector<std::set<RequestId>> left_at_;  // by machine: requests that left something there, while faults strike
  Commands commands_;
  Rng luck_;             // of faults
  bool healed_ = false;  // nothing goes wrong any more
  Hash hash_;
  RunResult result_;
  std::deque<std::pair<Event, Time>> last_;  // while checking
  Time now_;
};

}  // namespace sluice::sim
