// What the scheduler wants done, in the imperative. Each command has an id and may be delivered twice.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/money.h"
#include "base/time.h"
#include "domain/configuration.h"
#include "domain/event_parts.h"
#include "domain/ids.h"

namespace sluice {

struct Accept {
  RequestId request;
  Time promised_finish;
  PicoDollars cost;
  void visit(auto& archive) { archive(request, promised_finish, cost); }
};

enum class RejectReason : std::uint8_t {
  slo_infeasible,
  queue_full,
  quota_exceeded,
  no_capacity,
  cost_exceeded,
  not_deployed,    // no such application, or removed
  not_reservable,  // its workflow cannot be reserved ahead
  overloaded,      // the machines are full now; no_capacity: none of them has as much, however long one waits
};
constexpr RejectReason last_of(RejectReason) {
  return RejectReason::overloaded;
}
// Both numbers go to the caller: what it would need and what there is (milliseconds, requests, dollars; of
// the machines slices or vCPUs).
struct Reject {
  RequestId request;
  RejectReason reason = RejectReason::queue_full;
  double needed = 0, available = 0;
  std::optional<Duration> retry_after;
  void visit(auto& archive) { archive(request, reason, needed, available, retry_after); }
};

enum class RequestOutcome : std::uint8_t { finished, failed, deadline_exceeded, cancelled };
constexpr RequestOutcome last_of(RequestOutcome) {
  return RequestOutcome::cancelled;
}
struct Reply {
  RequestId request;
  RequestOutcome outcome = RequestOutcome::finished;
  StageId stage;  // failed, deadline_exceeded: where; of the application's own workflow
  std::string error;
  PicoDollars cost;
  std::uint64_t outermost = 0;    // finished: number of the outermost run, whose objects the outputs are; 0: none ran
  std::vector<InvokerId> places;  // finished: invokers that hold something the request made, sorted
  void visit(auto& archive) { archive(request, outcome, stage, error, cost, outermost, places); }
};

struct LoadInstance {
  InvokerId invoker;
  InstanceId instance;
  ApplicationId application;
  FunctionId function;
  Level level = Level::device;
  std::uint16_t gpu = 0;  // level device: of which GPU
  void visit(auto& archive) { archive(invoker, instance, application, function, level, gpu); }
};
struct EvictInstance {
  InvokerId invoker;
  InstanceId instance;
  Level level = Level::none;  // what is to be left
  void visit(auto& archive) { archive(invoker, instance, level); }
};

// An invocation reads what the stages before it in its run left, wherever they ran, and the first ones of a foreach
// body their item of what the run around them left; so outermost run, path, stage and item name every object of a
// request.
struct BatchMember {
  InvocationId invocation;
  RequestId request;
  std::uint64_t run = 0;     // a number never used again
  std::uint64_t around = 0;  // likewise, of the outermost run around it; 0: it is the outermost
  RunPath path;              // of the run
  StageId stage;
  std::uint32_t item = 0;     // of a foreach
  std::uint32_t attempt = 0;  // how often it failed before
  Time ready;                 // waited since
  InvokerId inputs_at;        // most of them; none: with the request
  Bytes bytes;                // of its inputs
  // Other invokers that hold objects of its request, or were told to make some: what is not on the machine itself is
  // asked for there. Sorted; at most limits::places_max. Empty where one invoker has run all of the request.
  std::vector<InvokerId> places;
  // A request that begins again gets another one, so that what was left before is not mixed with what it leaves then.
  [[nodiscard]] std::uint64_t outermost() const { return around == 0 ? run : around; }
  void visit(auto& archive) {
    archive(invocation, request, run, around, path, stage, item, attempt, ready, inputs_at, bytes, places);
  }
};
// Why a batch was begun as it was, for those who read traces. Invokers have no use for it: it is neither sent nor saved
// nor part of the hash of commands.
struct BatchReason {
  std::uint32_t considered = 0;      // configurations that the policy weighed; 0: it does not say
  std::uint32_t no_room = 0;         // of them: cheaper than the one that was taken, and fitted nowhere at that time
  Time company_from, company_until;  // the queue was kept waiting for further invocations; equal: it was not
  void visit(auto& /*archive*/) {}
};
struct StartBatch {
  BatchId id;  // never used again: what is tried again is a batch of its own
  InvokerId invoker;
  InstanceId instance;
  ApplicationId application;
  FunctionId function;
  std::uint32_t model_stage = 0;     // of the application's plan
  std::vector<BatchMember> members;  // oldest first
  std::uint32_t queued = 0;          // invocations that stay in their queue
  Configuration configuration;
  SlicePositions positions;
  Time earliest, latest;  // the window in which it may start
  Duration expected;
  BatchReason reason = {};
  std::vector<BatchId> after = {};  // these hold what it takes, and end soon: it begins when they are over
  void visit(auto& archive) {
    archive(id, invoker, instance, application, function, model_stage, members, queued, configuration, positions,
            earliest, latest, expected, reason, after);
  }
};
struct CancelBatch {
  InvokerId invoker;
  BatchId id;
  void visit(auto& archive) { archive(invoker, id); }
};
// Everything a request left at an invoker may go. Objects live until their request ends: whatever is lost earlier can
// be made again, and one command an invoker is enough.
struct ReleaseObjects {
  InvokerId invoker;
  RequestId request;
  void visit(auto& archive) { archive(invoker, request); }
};

// Something else is believed of an application, and its plans take longer to make than a decision may. Not for an
// invoker: whoever drives the scheduler answers with PlansMade. One at a time for each application.
struct MakePlans {
  ApplicationId application;
  std::uint64_t revision = 0;  // of what is believed of the application; grows
  void visit(auto& archive) { archive(application, revision); }
};

using Action = std::variant<Accept, Reject, Reply, LoadInstance, EvictInstance, StartBatch, CancelBatch, ReleaseObjects,
                            MakePlans>;

// What a decision took, so that a driver can charge scheduler time without a clock.
struct Work {
  std::uint32_t searches = 0;    // of a queue
  std::uint64_t expansions = 0;  // ESG_1Q and its kin
  std::uint64_t states = 0;      // Orion's search
  void visit(auto& archive) { archive(searches, expansions, states); }
};

struct Command {
  CommandId id;
  Action action;
  Work work;  // of the decision that led to it
  void visit(auto& archive) { archive(id, action, work); }
};

struct Commands {
  std::vector<Command> list;
  void visit(auto& archive) { archive(list); }
};

}  // namespace sluice
