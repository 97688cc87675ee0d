// Observer: is told what happens in a simulated world, a row per answered request and per finished action. Logs and
// reports are observers. The text and the members of a row are the world's: they are good during the call only.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/money.h"
#include "base/time.h"
#include "domain/commands.h"

namespace sluice::sim {

enum class Ending : std::uint8_t { met, late, rejected, failed, cancelled };

struct RequestRow {
  RequestId id;
  std::uint32_t application = 0;
  std::string_view application_name;
  Time arrival, deadline;
  Time finish;  // when it was answered, or turned away
  Ending ending = Ending::met;
  std::optional<RejectReason> reason;  // of a rejected one
  PicoDollars cost;
  bool cold = false;      // one of its batches waited for a load
  bool measured = false;  // came after the warm-up
};

enum class ActionKind : std::uint8_t { infer, load, evict };
enum class ActionEnd : std::uint8_t { succeeded, failed, lost };  // lost: with its machine

// From `decided` on: the scheduler's own time until `started`, then loading, transfer and execution (`measured`).
// A load or an eviction has no members; its time is `measured`.
struct ActionRow {
  std::uint64_t id = 0;  // infer: of the batch; else of the instance
  ActionKind kind = ActionKind::infer;
  InvokerId invoker;
  SlicePositions positions;
  std::uint32_t application = 0;
  std::string_view application_name, function, stage;
  Configuration configuration;
  std::span<const BatchMember> members;  // oldest first
  std::uint32_t queued = 0;              // invocations that stayed in the queue when it was decided
  Time decided, started;
  Duration loading, transfer;
  Duration expected, measured;  // execution
  Time finished;
  ActionEnd end = ActionEnd::succeeded;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // In the order of answers. The actions of a request come before it, except those whose result it did not wait for.
  virtual void request(const RequestRow& row) = 0;
  // In the order of finishing.
  virtual void action(const ActionRow& row) = 0;
};

}  // namespace sluice::sim
