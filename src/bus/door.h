// Door: the way of requests from gateways to the scheduler, and of answers back. A gateway has the tensors: the
// scheduler is told what they say about the way (conditions, fan-outs), how many bytes they are, and no more. In
// process both ends are function calls; elsewhere the same values are bytes (docs/decisions/the-bus.md).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/money.h"
#include "base/time.h"
#include "domain/commands.h"
#include "domain/event_parts.h"
#include "domain/ids.h"

namespace sluice::bus {

struct Arrival {
  RequestId request;
  ApplicationId application;          // as the gateway knows it
  std::optional<Duration> objective;  // instead of the application's
  std::optional<Duration> timeout;    // after that it is given up, whatever the objective
  std::uint8_t priority = 0;
  bool asynchronous = false;
  Bytes bytes;  // of its inputs, which are where the gateway is
  std::vector<Verdict> verdicts;
  std::vector<FanOut> fan_outs;
  std::string error;  // why it cannot run; empty: it can
  void visit(auto& archive) {
    archive(request, application, objective, timeout, priority, asynchronous, bytes, verdicts, fan_outs, error);
  }
};

// How a request ended. Its outputs are fetched by whoever takes the answer, from the places that have them.
struct Answered {
  enum class Kind : std::uint8_t { finished, rejected, failed, deadline_exceeded, cancelled };
  RequestId request;
  Kind kind = Kind::finished;
  // rejected
  RejectReason reason = RejectReason::queue_full;
  double needed = 0, available = 0;
  std::optional<Duration> retry_after;
  // failed, deadline_exceeded
  StageId stage;  // of the application's own workflow
  std::string error;
  Duration latency, slack;  // slack below zero: late
  PicoDollars cost;
  std::uint64_t outermost = 0;    // finished: the run whose objects its outputs are
  std::vector<InvokerId> places;  // that hold them
  void visit(auto& archive) {
    archive(request, kind, reason, needed, available, retry_after, stage, error, latency, slack, cost, outermost,
            places);
  }
};
constexpr Answered::Kind last_of(Answered::Kind) {
  return Answered::Kind::cancelled;
}

// The gateway has all that it needs of the request: what stages left may go.
struct AnswerTaken {
  RequestId request;
  std::string error;  // why its caller is told that it failed, though it had finished
  void visit(auto& archive) { archive(request, error); }
};

// A gateway as the scheduler's driver knows it. Called in the driver's thread, never while a door is being called.
class Gateway {
 public:
  virtual ~Gateway() = default;
  // Nothing: it will be taken later, and Door::taken() says when.
  [[nodiscard]] virtual std::optional<AnswerTaken> answered(Answered answered) = 0;
  // What was taken is on record, so that callers may hear of it.
  virtual void settle() = 0;
  // The application it names is not there any more; there may be another of its name.
  virtual void moved(Arrival arrival) = 0;
};

// The scheduler's driver as a gateway knows it. Any thread; nothing here waits.
class Door {
 public:
  virtual ~Door() = default;
  // All of them arrive at one instant, so that the scheduler may batch them together. False: too many requests are
  // before them; none was let in, and the arrivals are as they were. `from` is told once how each request ended.
  [[nodiscard]] virtual bool offer(std::span<Arrival> arrivals, Gateway& from) = 0;
  // It is answered as cancelled, unless it was answered before.
  virtual void cancel(RequestId request) = 0;
  virtual void taken(AnswerTaken taken) = 0;
};

}  // namespace sluice::bus
