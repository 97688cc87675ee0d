// Batches: what was started and has not ended, by number.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/archive.h"
#include "core/slots.h"
#include "domain/events.h"
#include "policy/view.h"

namespace sluice::core {

struct Batch {
  bool used = false;
  BatchId id;
  ApplicationId application;          // none: an invoker brought it along, and it is to stop
  policy::SharedFunctionId function;  // likewise
  policy::QueueId queue;              // likewise
  InvokerId invoker;
  InstanceId instance;  // none where everything is warm
  Configuration configuration;
  SlicePositions positions;
  Time started;
  Duration moving;         // of its inputs, as expected
  Duration execution;      // likewise
  double neighbours = 0;   // the share of the other slices of its GPU that was busy when it was booked
  bool cancelled = false;  // the invoker was told to stop it
  std::vector<policy::Waiting> members;
  std::vector<BatchId> after;      // that have to end before it begins; `started` is when it was sent until then
  std::vector<BatchId> followers;  // whose `after` has it
  // Whether it is the batch that an invoker says it runs.
  [[nodiscard]] bool is(InvokerId at, const RunningBatch& theirs) const;
  void visit(Archive& a) {
    a(used, id, application, function, queue, invoker, instance, configuration, positions, started, moving, execution,
      neighbours, cancelled, members, after, followers);
  }
};

class Batches {
 public:
  // The number of the next one; numbers are never used again, also not those that others gave out.
  [[nodiscard]] BatchId next_id() const { return BatchId(next_); }
  [[nodiscard]] Slot add(BatchId id);
  // Somebody gave out this number: it will not be the next.
  void pass_over(BatchId id) { next_ = std::max(next_, id.value() + 1); }
  void remove(Slot slot);
  [[nodiscard]] Slot find(BatchId id) const;                       // kNoSlot: not there
  [[nodiscard]] std::vector<BatchId> at(InvokerId invoker) const;  // ascending
  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  [[nodiscard]] Batch& operator[](Slot slot) { return values_[slot]; }
  [[nodiscard]] const Batch& operator[](Slot slot) const { return values_[slot]; }
  // Also those that have ended: `used` says which are there.
  [[nodiscard]] const Slots<Batch>& all() const { return values_; }
  void visit(Archive& archive);

 private:
  Slots<Batch> values_;
  std::uint64_t next_ = 0;
  std::unordered_map<BatchId, Slot> slots_;  // looked up, never walked
};

}  // namespace sluice::core
