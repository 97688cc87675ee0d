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

// Slices [first, first + count) of one GPU of an invoker; count 0 on CPUs.
struct SlicePositions {
  std::uint16_t gpu = 0, first = 0, count = 0;
  friend bool operator==(const SlicePositions&, const SlicePositions&) = default;
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
  std::string error;                    // failed: its name, matched by retry and catch
  std::vector<StageId> taken;           // successors whose condition held, where there are conditions
  std::uint32_t fan_out = 0;            // items of the foreach that reads this output
  std::vector<Object> objects;
};
struct BatchFinished {
  BatchId id;
  std::uint32_t attempt = 0;
  std::vector<InvocationResult> results;
  Duration measured;                    // execution alone
  double granted_share = 1;             // of the share asked for
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
  std::uint64_t epoch = 0;    // grows with every start, so that messages of an earlier life are recognised
  NodeGroup capacity;         // count is 1
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

using Event = std::variant<ApplicationDeployed, ApplicationRemoved, RequestAnnounced, RequestArrived, RequestCancelled,
                           BatchStarted, BatchExpired, BatchFinished, BatchFailed, InstanceLoaded, LoadFailed,
                           InstanceUnloaded, InvokerJoined, InvokerChanged, InvokerDraining, InvokerLost, ObjectLost,
                           ShareChanged, ProfileChanged>;

}  // namespace sluice
