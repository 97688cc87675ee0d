// Books: which vCPUs, slices and bytes of which invoker are taken, now and in the promised future. The one place that
// gives and takes them; a booking that does not fit is a bug of the caller.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "domain/commands.h"
#include "domain/events.h"
#include "policy/policy.h"

namespace sluice::core {

// What a batch takes, and for how long.
struct Claim {
  Configuration configuration;
  policy::SharedFunctionId function;
  Time from, to;
};

// Which start of an invoker's agent, and which join of it: grows with each.
struct Life {
  std::uint64_t epoch = 0, session = 0;
  friend auto operator<=>(const Life&, const Life&) = default;
  void visit(Archive& a) { a(epoch, session); }
};

class Books {
 public:
  void join(InvokerId id, Life life, const NodeGroup& capacity, bool warm);
  // The same agent is there again: what it runs stays booked. REQUIRES: alive, has_shape_of().
  void rejoin(InvokerId id, Life life, const NodeGroup& capacity);
  // Whether it has the same GPUs as an invoker with this capacity. REQUIRES: knows(id).
  [[nodiscard]] bool has_shape_of(InvokerId id, const NodeGroup& capacity, bool warm) const;
  // More or less of it than before; what runs goes on, and what is taken beyond the new capacity is owed.
  void change(InvokerId id, const NodeGroup& capacity);
  void drain(InvokerId id);
  void lose(InvokerId id);
  [[nodiscard]] std::span<const policy::Invoker> invokers() const { return invokers_; }
  [[nodiscard]] const policy::FreeIndex& by_free() const { return by_free_; }
  // Its last one, also after it was lost; nothing if it never joined.
  [[nodiscard]] std::optional<Life> life(InvokerId id) const { return lives_[id.index()]; }
  [[nodiscard]] bool knows(InvokerId id) const { return id.valid() && id.index() < invokers_.size(); }
  // Those where functions must be loaded before they run.
  [[nodiscard]] std::uint32_t cold_invokers() const { return cold_; }
  [[nodiscard]] bool alive(InvokerId id) const { return knows(id) && invokers_[id.index()].vcpu > 0; }

  // Takes what the batch needs from now on; nothing if it does not fit, also not beside what is promised to others.
  [[nodiscard]] std::optional<SlicePositions> take(InvokerId id, BatchId batch, const Claim& claim);
  // Turns a promise into a running batch of so many of those it was made to; nothing if something that should have
  // ended still runs there. The others keep a promise of no certain time.
  [[nodiscard]] std::optional<SlicePositions> take_reserved(InvokerId id, ReservationId reservation, BatchId batch,
                                                            const Claim& claim, std::uint32_t members);
  // What a batch takes that runs already, whoever started it; false if that cannot be: others hold those slices.
  [[nodiscard]] bool take_running(InvokerId id, const RunningBatch& batch, Time now);
  void give_back(InvokerId id, BatchId batch);

  // Machines that are sent the next batch while one computes (NodeGroup::ahead): from `ahead` before its expected end
  // on, what a batch on slices takes counts as free, and whoever gets it follows. These are now ending.
  void let_end(Time now);
  // When the next batch counts as ending; never in the past of the last let_end().
  [[nodiscard]] std::optional<Time> next_to_end() const;
  // The ending batches that have to be over before this one begins, since they hold its slices or vCPUs; by id. If
  // there are any it follows them until begin(). REQUIRES: it was just taken.
  [[nodiscard]] std::vector<BatchId> follow(InvokerId id, BatchId batch);
  // The batches that it followed are over.
  void begin(InvokerId id, BatchId batch, Time now);

  // REQUIRES: the reservation was found free with first_gap(), and nothing was booked since.
  void reserve(InvokerId id, ReservationId reservation, const policy::Reserved& reserved);
  // The promise is made to one more, whose own last start is `latest`. REQUIRES: it is open.
  void share(InvokerId id, ReservationId reservation, Time latest);
  // Of one of those it was made to.
  void unreserve(InvokerId id, ReservationId reservation);
  [[nodiscard]] Duration promised_time(InvokerId id, ReservationId reservation) const;

  // Memory of instances: on the host, or on a GPU.
  [[nodiscard]] bool take_memory(InvokerId id, std::optional<std::uint16_t> gpu, Bytes bytes);
  // Takes it before it is free, since others are on their way out: less than nothing is free meanwhile.
  void owe_memory(InvokerId id, std::optional<std::uint16_t> gpu, Bytes bytes);
  [[nodiscard]] Bytes free_memory(InvokerId id, std::optional<std::uint16_t> gpu) const;
  void give_back_memory(InvokerId id, std::optional<std::uint16_t> gpu, Bytes bytes);
  // The room of an instance: batches it could start.
  [[nodiscard]] policy::InstanceRoom& room(InvokerId id, std::optional<std::uint16_t> gpu);

  void visit(Archive& archive);

 private:
  void index(const policy::Invoker& invoker);
  void hold(policy::Invoker& invoker, BatchId batch, const Claim& claim, const SlicePositions& positions);
  void expect_end(const policy::Invoker& invoker, const policy::Booking& booking);
  [[nodiscard]] static std::tuple<Time, InvokerId, std::uint64_t> end_of(const policy::Invoker& invoker,
                                                                         const policy::Booking& booking);

  std::vector<policy::Invoker> invokers_;   // InvokerId is the position
  std::vector<std::optional<Life>> lives_;  // likewise
  std::uint32_t cold_ = 0;
  policy::FreeIndex by_free_;                                  // derived
  std::set<std::tuple<Time, InvokerId, std::uint64_t>> ends_;  // derived; when batches that run count as ending
};

}  // namespace sluice::core
