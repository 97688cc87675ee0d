// WorldState: everything a simulated world knows. What happens in it (happening.h, misfortune.h), what commands do
// (acting.h) and what its scheduler (telling.h) and its observer (reporting.h) are told are functions over it.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/rng.h"
#include "core/scheduler.h"
#include "domain/experiment.h"
#include "policy/policy.h"
#include "profile/function_profile.h"
#include "sim/machines.h"
#include "sim/result.h"
#include "sim/world.h"
#include "workload/stream.h"

namespace sluice::sim {

struct Deployment {
  ApplicationId id;
  TenantId tenant;
  std::shared_ptr<const Application> application;
  std::vector<profile::FunctionProfile> profiles;
  std::vector<std::uint32_t> functions;  // by FunctionId: its number among all different ones
  Duration objective;
  std::vector<std::string> stages;  // of its plan
};

enum class HappeningKind : std::uint8_t {
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
  unbound,
  unexpected  // calls of a deployment
};

struct Happening {
  Time at;
  std::uint64_t order = 0;
  HappeningKind kind = HappeningKind::arrival;
  std::uint64_t subject = 0;  // a batch, an invoker, a request, a command about an instance or an application
  bool operator>(const Happening& other) const { return std::pair(at, order) > std::pair(other.at, other.order); }
};

struct Running {
  StartBatch start;
  Time decided, started;
  Duration held, transfer, measured;
  bool gone = false;           // its machine died, or it was cancelled
  std::vector<BatchId> after;  // it begins when these have ended
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

// What the experiment says of a scheduler.
[[nodiscard]] const policy::Parameters& parameters_of(const Experiment& experiment, const std::string& scheduler);

struct WorldState {
  WorldState(const Experiment& given, WorldOptions wanted, workload::ArrivalStream arrivals);

  void schedule(Time at, HappeningKind kind, std::uint64_t subject);
  // Whether a fault of this probability strikes now.
  [[nodiscard]] bool strikes(double probability) { return !healed && probability > 0 && luck.chance(probability); }
  // The number of what it runs, among all different functions.
  [[nodiscard]] std::uint32_t function_of(const StartBatch& command) const {
    return deployments[command.application.index()].functions[command.function.index()];
  }
  // The run ends because of this; only the first one counts.
  void violate(std::string what);
  [[nodiscard]] std::unique_ptr<core::Scheduler> fresh_scheduler() const;

  const Experiment& experiment;
  WorldOptions options;
  workload::ArrivalStream stream;
  std::optional<workload::Arrival> next_arrival;
  std::vector<Deployment> deployments;
  std::unique_ptr<core::Scheduler> scheduler;
  std::unique_ptr<core::Scheduler> shadow;  // the one that was saved last, for a few decisions more
  std::uint32_t shadow_decisions = 0;
  Machines machines;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> heap;
  std::uint64_t next_order = 0, next_request = 0, next_move = 0;
  std::unordered_map<std::uint64_t, Running> running;  // looked up, never walked
  std::vector<BatchId> running_order;                  // what runs, in the order of starting; for crashes
  std::unordered_map<std::uint64_t, std::vector<BatchId>> followers;  // by the batch that they begin after
  std::unordered_map<std::uint64_t, Move> moves;
  std::unordered_map<std::uint64_t, Asked> asked;
  std::vector<std::uint64_t> sessions;       // of every machine: joins since it booted, but the first
  std::vector<std::set<RequestId>> left_at;  // by machine: requests that left something there, while faults strike
  Commands commands;
  std::vector<MakePlans> plans_wanted;  // by these commands
  Rng luck;                             // of faults
  bool healed = false;                  // nothing goes wrong any more
  Hash hash;
  RunResult result;
  std::deque<std::pair<Event, Time>> last;  // while checking
  Time now;
};

}  // namespace sluice::sim
