// What the scheduler is told, in the past tense. Plain data: live, simulated and replayed events are the same values.
#pragma once
#include <cstdint>
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

// The application is shared because it is large and never changes once deployed.
struct ApplicationDeployed {
  ApplicationId id;
  std::shared_ptr<const Application> application;
  void visit(auto& archive) { archive(id, application); }
};
struct ApplicationRemoved {
  ApplicationId id;
  void visit(auto& archive) { archive(id); }
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
  double size = 1;            // relative to the profile's
  Bytes bytes;                // of its inputs
  std::uint8_t priority = 0;  // 0 = default, 1 = highest
  std::vector<Verdict> verdicts;
  std::vector<FanOut> fan_outs;
  void visit(auto& archive) {
    archive(id, application, tenant, deadline, cost_limit, size, bytes, priority, verdicts, fan_outs);
  }
};
struct RequestCancelled {
  RequestId id;
  void visit(auto& archive) { archive(id); }
};

struct BatchStarted {
  BatchId id;
  std::uint32_t attempt = 0;
  void visit(auto& archive) { archive(id, attempt); }
};
struct BatchExpired {  // its window was missed, nothing ran
  BatchId id;
  std::uint32_t attempt = 0;
  void visit(auto& archive) { archive(id, attempt); }
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
  std::uint32_t attempt = 0;
  std::vector<InvocationResult> results;
  Duration measured;         // execution alone
  Duration held;             // transfer, loading and execution: what is billed
  double granted_share = 1;  // of the share asked for
  void visit(auto& archive) { archive(id, attempt, results, measured, held, granted_share); }
};
struct BatchFailed {
  BatchId id;
  std::uint32_t attempt = 0;
  std::string error;
  void visit(auto& archive) { archive(id, attempt, error); }
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

struct InvokerJoined {
  InvokerId id;
  std::uint64_t epoch = 0;  // grows with every start, so that messages of an earlier life are recognised
  NodeGroup capacity;       // count is 1
  bool warm = false;        // every function counts as loaded here, as many times as one likes
  std::vector<InstanceStatus> instances;
  std::vector<BatchId> running;
  std::vector<Object> objects;
  void visit(auto& archive) { archive(id, epoch, capacity, warm, instances, running, objects); }
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
  std::uint64_t epoch = 0;
  void visit(auto& archive) { archive(id, epoch); }
};

struct ObjectLost {  // what a request left there is gone
  InvokerId invoker;
  RequestId request;
  void visit(auto& archive) { archive(invoker, request); }
};
struct ShareChanged {
  InvokerId invoker;
  InstanceId instance;
  double share = 0;
  void visit(auto& archive) { archive(invoker, instance, share); }
};
struct ProfileChanged {  // from outside; what the scheduler learns itself is its own state
  ApplicationId application;
  FunctionId function;
  std::shared_ptr<const Profile> profile;
  void visit(auto& archive) { archive(application, function, profile); }
};

using Event =
    std::variant<ApplicationDeployed, ApplicationRemoved, RequestAnnounced, RequestArrived, RequestCancelled,
                 BatchStarted, BatchExpired, BatchFinished, BatchFailed, InstanceLoaded, LoadFailed, InstanceUnloaded,
                 InvokerJoined, InvokerChanged, InvokerDraining, InvokerLost, ObjectLost, ShareChanged, ProfileChanged>;

}  // namespace sluice
