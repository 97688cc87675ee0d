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
#include "domain/configuration.h"
#include "domain/ids.h"

namespace sluice {

// How far an instance is loaded; raising the level is a cold start.
enum class Level : std::uint8_t { none, process, host, device };

enum class Outcome : std::uint8_t { succeeded, failed, timed_out };

// Slices of one GPU of an invoker, a bit each; none on CPUs.
struct SlicePositions {
  std::uint16_t gpu = 0;
  std::uint64_t slices = 0;
  friend bool operator==(const SlicePositions&, const SlicePositions&) = default;
  template <class Archive>
  void visit(Archive& archive) {
    archive(gpu, slices);
  }
};

struct Object {
  ObjectId id;
  Bytes bytes;
  friend bool operator==(const Object&, const Object&) = default;
};

struct InstanceStatus {
  InstanceId id;
  ApplicationId application;
  FunctionId function;
  Level level = Level::none;
  friend bool operator==(const InstanceStatus&, const InstanceStatus&) = default;
};

// Whether the condition of a stage holds. Conditions are evaluated where the data are: as soon as all that one reads is
// known, whoever knows it says so, with the request or with the result of an invocation.
struct Verdict {
  StageId stage;
  bool holds = false;
  friend bool operator==(const Verdict&, const Verdict&) = default;
  template <class Archive>
  void visit(Archive& archive) {
    archive(stage, holds);
  }
};

// How many items the foreach of a stage has, known likewise.
struct FanOut {
  StageId stage;
  std::uint32_t items = 0;
  friend bool operator==(const FanOut&, const FanOut&) = default;
  template <class Archive>
  void visit(Archive& archive) {
    archive(stage, items);
  }
};

// The application is shared because it is large and never changes once deployed.
struct ApplicationDeployed {
  ApplicationId id;
  std::shared_ptr<const Application> application;
};
struct ApplicationRemoved {
  ApplicationId id;
};

struct RequestAnnounced {  // known ahead of its arrival
  ApplicationId application;
  Time expected;
  std::uint32_t count = 1;
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
  template <class Archive>
  void visit(Archive& archive) {
    archive(id, application, tenant, deadline, cost_limit, size, bytes, priority, verdicts, fan_outs);
  }
};
struct RequestCancelled {
  RequestId id;
};

struct BatchStarted {
  BatchId id;
  std::uint32_t attempt = 0;
};
struct BatchExpired {  // its window was missed, nothing ran
  BatchId id;
  std::uint32_t attempt = 0;
};
struct InvocationResult {
  InvocationId id;
  Outcome outcome = Outcome::succeeded;
  std::string error;  // failed: its name, matched by retry and catch
  std::vector<Verdict> verdicts;
  std::vector<FanOut> fan_outs;
  Bytes bytes;  // of its outputs
};
struct BatchFinished {
  BatchId id;
  std::uint32_t attempt = 0;
  std::vector<InvocationResult> results;
  Duration measured;         // execution alone
  Duration held;             // transfer, loading and execution: what is billed
  double granted_share = 1;  // of the share asked for
};
struct BatchFailed {
  BatchId id;
  std::uint32_t attempt = 0;
  std::string error;
};

struct InstanceLoaded {
  InvokerId invoker;
  InstanceId instance;
  Level level = Level::none;
  Duration measured;
};
struct LoadFailed {
  InvokerId invoker;
  InstanceId instance;
  std::string error;
};
struct InstanceUnloaded {
  InvokerId invoker;
  InstanceId instance;
  Level level = Level::none;  // what is left
};

struct InvokerJoined {
  InvokerId id;
  std::uint64_t epoch = 0;  // grows with every start, so that messages of an earlier life are recognised
  NodeGroup capacity;       // count is 1
  std::vector<InstanceStatus> instances;
  std::vector<BatchId> running;
  std::vector<Object> objects;
};
struct InvokerChanged {
  InvokerId id;
  NodeGroup capacity;
};
struct InvokerDraining {
  InvokerId id;
};
struct InvokerLost {
  InvokerId id;
  std::uint64_t epoch = 0;
};

struct ObjectLost {
  InvokerId invoker;
  ObjectId id;
};
struct ShareChanged {
  InvokerId invoker;
  InstanceId instance;
  double share = 0;
};
struct ProfileChanged {  // from outside; what the scheduler learns itself is its own state
  ApplicationId application;
  FunctionId function;
  std::shared_ptr<const Profile> profile;
};

using Event =
    std::variant<ApplicationDeployed, ApplicationRemoved, RequestAnnounced, RequestArrived, RequestCancelled,
                 BatchStarted, BatchExpired, BatchFinished, BatchFailed, InstanceLoaded, LoadFailed, InstanceUnloaded,
                 InvokerJoined, InvokerChanged, InvokerDraining, InvokerLost, ObjectLost, ShareChanged, ProfileChanged>;

}  // namespace sluice
