// Requests: what was let in and is not answered yet, by number: deadlines, promises, cost, and where its invocations
// wait and run. How they move through their workflows is the business of Runs.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/archive.h"
#include "base/money.h"
#include "core/books.h"
#include "core/ledger.h"
#include "core/slots.h"
#include "domain/events.h"
#include "policy/view.h"

namespace sluice::core {

// What was promised to a stage of a request when it was admitted.
struct Promise {
  std::uint32_t stage = 0;
  ReservationId reservation;
  InvokerId invoker;
  Time from, latest;
  void visit(Archive& a) { a(stage, reservation, invoker, from, latest); }
};

struct Request {
  bool used = false;
  RequestId id;
  ApplicationId application;
  Time arrival, deadline;
  std::optional<PicoDollars> cost_limit;
  PicoDollars cost;                             // so far
  Ledger<policy::QueueId> waiting;              // invocations in queues
  Ledger<Slot> running;                         // batches it has invocations in, whether or not anybody waits for them
  std::vector<Promise> promises;                // of stages that have not started
  std::vector<policy::SharedFunctionId> ahead;  // of stages it has not come to; where functions have to be loaded
  void visit(Archive& a) {
    a(used, id, application, arrival, deadline, cost_limit, cost, waiting, running, promises, ahead);
  }
};

class Requests {
 public:
  [[nodiscard]] Slot add(const RequestArrived& arrival, Time now);
  void remove(Slot slot);
  [[nodiscard]] std::optional<Slot> find(RequestId id) const;
  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  [[nodiscard]] Request& operator[](Slot slot) { return values_[slot]; }
  [[nodiscard]] const Request& operator[](Slot slot) const { return values_[slot]; }

  // What is promised is reserved in the books until its stage starts, it is given back, or its machine is gone.
  void promise(Slot slot, const std::vector<policy::Reserved>& reserved, Books& books);
  // The stage starts: with what was promised, or (`taken` is another) with what was free as well.
  static void keep_promise(Request& request, ReservationId promised, ReservationId taken, Books& books);
  void end_promises(Slot slot, Books& books);
  void end_promise(Slot slot, std::uint32_t stage, Books& books);  // if it has one
  void forget_promises(InvokerId invoker);                         // its books are gone

  // Also those that are over: `used` says which are there.
  [[nodiscard]] const Slots<Request>& all() const { return values_; }
  void visit(Archive& archive);

 private:
  Slots<Request> values_;
  std::uint64_t next_reservation_ = 0;
  std::unordered_map<RequestId, Slot> slots_;  // looked up, never walked
};

}  // namespace sluice::core
