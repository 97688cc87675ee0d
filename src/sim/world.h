// World: a cluster, its load and its luck in virtual time, driving the real scheduler. Events of one instant are
// observed together, then the scheduler decides once. Everything is drawn from keyed generators, so that a run repeats
// to the bit.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/rng.h"
#include "core/scheduler.h"
#include "domain/experiment.h"
#include "profile/function_profile.h"
#include "sim/faults.h"
#include "sim/observer.h"
#include "sim/result.h"
#include "workload/stream.h"

namespace sluice::sim {

struct WorldOptions {
  std::string scheduler = "sluice";
  std::uint64_t seed = 1;
  Faults faults;
  bool check_every_event = false;                        // full invariants
  std::optional<std::uint64_t> until_event;              // stop there
  std::function<void(std::uint64_t requests)> progress;  // now and then
  Observer* observer = nullptr;                          // outlives the run; null: nobody looks
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
    std::shared_ptr<const Application> application;
    std::vector<profile::FunctionProfile> profiles;
    Duration objective;
    std::vector<std::string> stages;  // of its plan
  };
  enum class Kind : std::uint8_t { arrival, finish, fail, lost, back, cancel };
  struct Happening {
    Time at;
    std::uint64_t order = 0;
    Kind kind = Kind::arrival;
    std::uint64_t subject = 0;  // a batch, an invoker or a request
    bool operator>(const Happening& other) const { return std::pair(at, order) > std::pair(other.at, other.order); }
  };
  struct Running {
    StartBatch start;
    Time decided, started;
    Duration held, transfer, measured;
    std::uint64_t epoch = 0;
    bool gone = false;  // its machine died
  };
  struct Asked {
    Time at, deadline;
    std::uint32_t application = 0;
    bool accepted = false;
  };

  World(const Experiment& experiment, WorldOptions options, workload::ArrivalStream stream);
  [[nodiscard]] Status deploy();
  [[nodiscard]] std::unique_ptr<core::Scheduler> fresh_scheduler() const;
  void join_invokers();
  void schedule(Time at, Kind kind, std::uint64_t subject);
  void schedule_arrival();
  void happen(const Happening& happening);
  void arrive(Time now);
  void finish(Time now, std::uint64_t batch, bool fails);
  void crash(Time now);
  void tell(const Event& event, Time now);
  void decide(Time now);
  void act(const Command& command, Time now);
  void start(const StartBatch& command, const Work& work, Time now);
  void answered(RequestId request, RequestOutcome outcome, std::optional<RejectReason> rejected, PicoDollars cost,
                Time now);
  // Tell the observer, if there is one (told.cpp).
  void report(const Running& running, ActionEnd end, Time now) const;
  void report(RequestId request, const Asked& asked, Ending ending, std::optional<RejectReason> reason,
              PicoDollars cost) const;
  [[nodiscard]] std::string_view stage_name(const StartBatch& command) const;
  void reload();
  void violate(std::string what);
  void remember(std::string what);
  [[nodiscard]] profile::Latency believed(const StartBatch& command) const;
  [[nodiscard]] Duration execution(const StartBatch& command, std::uint64_t draw_stage) const;
  [[nodiscard]] Duration thinking(const Work& work) const;

  const Experiment& experiment_;
  WorldOptions options_;
  workload::ArrivalStream stream_;
  std::optional<workload::Arrival> next_arrival_;
  std::vector<Deployment> deployments_;
  std::unique_ptr<core::Scheduler> scheduler_;
  std::vector<NodeGroup> machines_;    // one each
  std::vector<std::uint64_t> epochs_;  // 0: down
  std::uint64_t next_epoch_ = 1;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> heap_;
  std::uint64_t next_order_ = 0, next_request_ = 0;
  std::unordered_map<std::uint64_t, Running> running_;  // looked up, never walked
  std::vector<BatchId> running_order_;                  // what runs, in the order of starting; for crashes
  std::unordered_map<std::uint64_t, Asked> asked_;
  Commands commands_;
  Rng luck_;  // of faults
  Hash hash_;
  RunResult result_;
  std::uint64_t vcpus_ = 0, slices_ = 0;  // of the cluster
  std::vector<std::string> last_;         // events, while checking
  Time now_;
};

}  // namespace sluice::sim
