// What the scheduler is told, in the past tense. Plain data: live, simulated and replayed events are the same values.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/money.h"
#include "base/time.h"
#include "domain/application.h"
#include "domain/cluster.h"
#include "domain/event_parts.h"
#include "domain/ids.h"

namespace sluice {

namespace core {
struct Plans;  // core/plans.h
}

// Plans that were made in another thread of the same process. No part of an event's bytes: where an event brings none
// (from a log, from another process) the scheduler makes the same plans itself.
struct BroughtPlans {
  std::shared_ptr<const core::Plans> plans;
  void visit(auto&) {}
};

// The application is shared because it is large and never changes once deployed.
struct ApplicationDeployed {
  ApplicationId id;
  std::shared_ptr<const Application> application;
  BroughtPlans brought = {};
  void visit(auto& archive) { archive(id, application, brought); }
};
struct ApplicationRemoved {
  ApplicationId id;
  void visit(auto& archive) { archive(id); }
};

// All calls of a name will come to this application soon: an instance of each of its functions stays loaded until it is
// told otherwise.
struct CallsExpected {
  ApplicationId application;
  bool expected = true;
  void visit(auto& archive) { archive(application, expected); }
};

struct RequestAnnounced {  // known ahead of its arrival
  ApplicationId application;
  Time expected;
  std::uint32_t count = 1;
  void visit(auto& archive) { archive(application, expected, count); }
};
struct RequestArrived {
  RequestId id;
  ApplicationId application;
  TenantId tenant;
  Time deadline;
  std::optional<PicoDollars> cost_limit;
  Bytes bytes;                // of its inputs
  std::uint8_t priority = 0;  // 0 = default, 1 = highest
  std::vector<Verdict> verdicts;
  std::vector<FanOut> fan_outs;
  void visit(auto& archive) {
    archive(id, application, tenant, deadline, cost_limit, bytes, priority, verdicts, fan_outs);
  }
};
struct RequestCancelled {
  RequestId id;
  void visit(auto& archive) { archive(id); }
};

struct BatchExpired {  // its window was missed, nothing ran
  BatchId id;
  void visit(auto& archive) { archive(id); }
};
struct InvocationResult {
  InvocationId id;
  Outcome outcome = Outcome::succeeded;
  std::string error;  // failed: its name, matched by retry and catch
  std::vector<Verdict> verdicts;
  std::vector<FanOut> fan_outs;
  Bytes bytes;  // of its outputs
  void visit(auto& archive) { archive(id, outcome, error, verdicts, fan_outs, bytes); }
};
struct BatchFinished {
  BatchId id;
  std::vector<InvocationResult> results;
  Duration measured;   // execution alone
  Duration held;       // transfer, loading and execution: what is billed
  bool first = false;  // something was prepared on the way: later ones will be shorter, nothing is learned from it
  void visit(auto& archive) { archive(id, results, measured, held, first); }
};
struct BatchFailed {
  BatchId id;
  std::string error;
  void visit(auto& archive) { archive(id, error); }
};

struct InstanceLoaded {
  InvokerId invoker;
  InstanceId instance;
  Level level = Level::none;
  Duration measured;
  std::uint32_t batches = 1;  // it can run at once
  void visit(auto& archive) { archive(invoker, instance, level, measured, batches); }
};
struct LoadFailed {
  InvokerId invoker;
  InstanceId instance;
  std::string error;
  void visit(auto& archive) { archive(invoker, instance, error); }
};
struct InstanceUnloaded {
  InvokerId invoker;
  InstanceId instance;
  Level level = Level::none;  // what is left
  void visit(auto& archive) { archive(invoker, instance, level); }
};

// A machine starts, or its link is there again after a gap. Everything it has is listed: what the scheduler believed to
// be there and is not listed is lost, what it does not know it ends or releases. A command that had not reached the
// machine when it joined never will.
struct InvokerJoined {
  InvokerId id;
  std::uint64_t epoch = 0;    // grows with every start of the machine's agent, which begins with nothing that runs
  std::uint64_t session = 0;  // grows with every join of the same epoch
  NodeGroup capacity;         // count is 1
  bool warm = false;          // every function counts as loaded here, as many times as one likes
  std::vector<InstanceStatus> instances;
  std::vector<RunningBatch> running;  // batches whose end was not told yet
  std::vector<RequestId> objects;     // requests that left something there
  void visit(auto& archive) { archive(id, epoch, session, capacity, warm, instances, running, objects); }
};
struct InvokerChanged {
  InvokerId id;
  NodeGroup capacity;
  void visit(auto& archive) { archive(id, capacity); }
};
struct InvokerDraining {
  InvokerId id;
  void visit(auto& archive) { archive(id); }
};
struct InvokerLost {
  InvokerId id;
  std::uint64_t epoch = 0, session = 0;  // with which it had joined
  void visit(auto& archive) { archive(id, epoch, session); }
};

struct ObjectLost {  // what a request left there is gone
  InvokerId invoker;
  RequestId request;
  void visit(auto& archive) { archive(invoker, request); }
};
struct ProfileChanged {  // from outside; what the scheduler learns itself is its own state
  ApplicationId application;
  FunctionId function;
  std::shared_ptr<const Profile> profile;
  void visit(auto& archive) { archive(application, function, profile); }
};
struct BranchesKnown {  // from outside: what an earlier scheduler learned of an application's conditions and fan-outs
  ApplicationId application;
  // By stage; inside of a foreach as "each object/crop".
  std::map<std::string, double> shares = {};  // of requests that take it
  std::map<std::string, double> items = {};   // of a foreach
  void visit(auto& archive) { archive(application, shares, items); }
};
struct QuotaChanged {  // of one tenant; absent: no limit
  std::string tenant;
  std::optional<std::uint32_t> vcpu, slices;  // that its batches may hold at once
  void visit(auto& archive) { archive(tenant, vcpu, slices); }
};
struct PlansMade {  // as MakePlans asked for; planners use them from now on
  ApplicationId application;
  std::uint64_t revision = 0;
  BroughtPlans brought = {};
  void visit(auto& archive) { archive(application, revision, brought); }
};

using Event = std::variant<ApplicationDeployed, ApplicationRemoved, RequestAnnounced, RequestArrived, RequestCancelled,
                           BatchExpired, BatchFinished, BatchFailed, InstanceLoaded, LoadFailed, InstanceUnloaded,
                           InvokerJoined, InvokerChanged, InvokerDraining, InvokerLost, ObjectLost, ProfileChanged,
                           BranchesKnown, QuotaChanged, PlansMade, CallsExpected>;

}  // namespace sluice
