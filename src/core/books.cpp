#include "core/books.h"

#include <algorithm>

#include "base/check.h"
#include "domain/limits.h"
#include "policy/slice_positions.h"
#include "policy/timeline.h"

namespace sluice::core {
namespace {

auto find_booking(auto& invoker, std::uint64_t owner, bool reserved) {
  const auto it = std::find_if(invoker.bookings.begin(), invoker.bookings.end(),
                               [&](const policy::Booking& b) { return b.owner == owner && b.reserved == reserved; });
  CHECK(it != invoker.bookings.end());
  return it;
}

// The order of bookings means nothing, so the last one may fill the gap.
void erase_booking(policy::Invoker& invoker, std::vector<policy::Booking>::iterator it) {
  *it = invoker.bookings.back();
  invoker.bookings.pop_back();
}

// A promise is made to more, or to fewer; to nobody: it is no more.
void change_members(policy::Invoker& invoker, std::vector<policy::Booking>::iterator promise, std::uint32_t more,
                    std::uint32_t fewer, bool begins = false) {
  CHECK(promise->reserved && promise->members + more >= fewer);
  invoker.open -= promise->open() ? 1 : 0;
  promise->members = promise->members + more - fewer;
  CHECK(promise->members <= promise->configuration.batch);
  if (begins) promise->to = promise->from;  // of those who are left nobody knows when
  if (promise->members > 0) {
    invoker.open += promise->open() ? 1 : 0;
    return;
  }
  --invoker.reserved;
  erase_booking(invoker, promise);
}

// Those no batch runs on, but for batches that are ending; where a machine shrank, batches may run on more than it has.
std::uint32_t vcpus_free(const policy::Invoker& invoker) {
  std::uint32_t taken = 0;
  for (const policy::Booking& booking : invoker.bookings)
    taken += booking.reserved || booking.ending ? 0 : booking.configuration.vcpu;
  return invoker.vcpu > taken ? invoker.vcpu - taken : 0;
}

// Of batches that are ending, on one of its GPUs.
std::uint64_t ending_slices(const policy::Invoker& invoker, std::size_t gpu) {
  std::uint64_t out = 0;
  for (const policy::Booking& booking : invoker.bookings) {
    if (booking.ending && booking.positions.gpu == gpu) out |= booking.positions.slices;
  }
  return out;
}

// Where functions are loaded: whether their instances at the place have room for one more batch beside those that were
// promised to run on them in the span.
bool instances_have_room(const policy::Invoker& invoker, const Claim& claim, const SlicePositions& positions) {
  if (invoker.warm) return true;
  const bool on_gpu = positions.slices != 0;
  std::uint32_t batches = 1;
  for (const policy::Booking& other : invoker.bookings) {
    const bool there = other.function == claim.function && (other.positions.slices != 0) == on_gpu &&
                       (!on_gpu || other.positions.gpu == positions.gpu);
    if (other.reserved && there && policy::Span{claim.from, claim.to}.meets(other)) ++batches;
  }
  return batches <= (on_gpu ? invoker.gpus[positions.gpu].room : invoker.room).of(claim.function);
}

// Whether what was promised can be had from `from` on, beside all that others were promised. Earlier than agreed it may
// meet none of them; later it may push those on that can begin after it and still be in time.
bool room_for_promise(const policy::Invoker& invoker, const policy::Booking& promise, const policy::Span& span) {
  if (span.from == promise.from && promise.from < promise.to) return true;
  const bool late = span.from > promise.from;
  std::uint32_t vcpus = promise.configuration.vcpu, batches = 1;
  for (const policy::Booking& other : invoker.bookings) {
    if (&other == &promise || !other.reserved || !span.meets(other) || (late && other.latest >= span.to)) continue;
    vcpus += other.configuration.vcpu;  // at the most: not all of them at once
    const bool same_gpu = other.positions.gpu == promise.positions.gpu;
    if (same_gpu && (other.positions.slices & promise.positions.slices) != 0) return false;
    const bool same_place = promise.positions.slices == 0 ? other.positions.slices == 0 : same_gpu;
    batches += other.function == promise.function && same_place ? 1 : 0;
  }
  const policy::InstanceRoom& room =
      promise.positions.slices == 0 ? invoker.room : invoker.gpus[promise.positions.gpu].room;
  if (!invoker.warm && batches > room.of(promise.function)) return false;
  for (const policy::Booking& other : invoker.bookings)
    vcpus += other.reserved || other.ending ? 0 : other.configuration.vcpu;
  return vcpus <= invoker.vcpu;
}

enum class Slices { idle, idle_or_ending };

// On the fullest GPU that can hold it, so that large shares stay possible elsewhere.
std::optional<SlicePositions> free_slices(const policy::Invoker& invoker, const Claim& claim, Slices which) {
  std::optional<SlicePositions> found;
  std::uint32_t least = ~std::uint32_t{0};
  for (std::size_t g = 0; g < invoker.gpus.size(); ++g) {
    const policy::Gpu& gpu = invoker.gpus[g];
    if (gpu.free_count() >= least || (!invoker.warm && gpu.room.of(claim.function) == 0)) continue;
    const auto number = static_cast<std::uint16_t>(g);
    std::uint64_t free = gpu.free;
    if (invoker.reserved > 0) free &= ~policy::slices_taken(invoker, number, {claim.from, claim.to});
    if (which == Slices::idle) free &= ~ending_slices(invoker, g);
    if (const auto mask = policy::free_positions({gpu.slices, free}, claim.configuration.slices, invoker.layout)) {
      found = SlicePositions{number, *mask};
      least = gpu.free_count();
    }
  }
  return found;
}

}  // namespace

void Books::index(const policy::Invoker& invoker) {
  by_free_.set(invoker.id.value(), invoker.usable ? invoker.slices_free() : policy::FreeIndex::kAbsent);
}

void Books::join(InvokerId id, Life life, const NodeGroup& capacity, bool warm) {
  if (id.index() >= invokers_.size()) {
    const std::size_t first = invokers_.size();
    invokers_.resize(id.index() + 1);
    lives_.resize(id.index() + 1);
    for (std::size_t i = first; i < invokers_.size(); ++i) invokers_[i].id = InvokerId(static_cast<InvokerId::rep>(i));
  }
  policy::Invoker& invoker = invokers_[id.index()];
  invoker = {.id = id,
             .usable = true,
             .warm = warm,
             .vcpu = capacity.vcpu,
             .vcpu_free = capacity.vcpu,
             .memory = capacity.memory,
             .memory_free = capacity.memory,
             .layout = capacity.layout,
             .device = capacity.device,
             .ahead = capacity.ahead};
  for (std::uint32_t i = 0; i < capacity.gpus; ++i) {
    invoker.gpus.push_back({.slices = capacity.slices_per_gpu,
                            .free = policy::all_slices(capacity.slices_per_gpu),
                            .memory = capacity.gpu_memory,
                            .memory_free = capacity.gpu_memory});
  }
  lives_[id.index()] = life;
  cold_ += warm ? 0 : 1;
  index(invoker);
}

void Books::rejoin(InvokerId id, Life life, const NodeGroup& capacity) {
  lives_[id.index()] = life;
  invokers_[id.index()].usable = true;
  change(id, capacity);
}

bool Books::has_shape_of(InvokerId id, const NodeGroup& capacity, bool warm) const {
  const policy::Invoker& invoker = invokers_[id.index()];
  return invoker.warm == warm && invoker.layout == capacity.layout && invoker.device == capacity.device &&
         invoker.ahead == capacity.ahead && invoker.gpus.size() == capacity.gpus &&
         std::all_of(invoker.gpus.begin(), invoker.gpus.end(), [&](const policy::Gpu& gpu) {
           return gpu.slices == capacity.slices_per_gpu && gpu.memory == capacity.gpu_memory;
         });
}

// Slices keep their number while an invoker lives: a GPU that changes is a machine that joins again.
void Books::change(InvokerId id, const NodeGroup& capacity) {
  policy::Invoker& invoker = invokers_[id.index()];
  invoker.vcpu = std::max<std::uint32_t>(capacity.vcpu, 1);
  invoker.vcpu_free = vcpus_free(invoker);
  const Bytes held = invoker.memory - invoker.memory_free;
  invoker.memory = capacity.memory;
  invoker.memory_free = capacity.memory - held;  // may be owed: below zero nothing is loaded
  index(invoker);
}

void Books::drain(InvokerId id) {
  invokers_[id.index()].usable = false;
  index(invokers_[id.index()]);
}

void Books::lose(InvokerId id) {
  policy::Invoker& invoker = invokers_[id.index()];
  cold_ -= invoker.warm ? 0 : 1;
  for (const policy::Booking& booking : invoker.bookings) ends_.erase(end_of(invoker, booking));
  invoker = {.id = id, .layout = invoker.layout, .device = invoker.device};
  index(invoker);
}

void Books::hold(policy::Invoker& invoker, BatchId batch, const Claim& claim, const SlicePositions& positions) {
  invoker.vcpu_free -= std::min<std::uint32_t>(invoker.vcpu_free, claim.configuration.vcpu);
  ++invoker.running;
  if (positions.slices != 0) invoker.gpus[positions.gpu].free &= ~positions.slices;
  invoker.bookings.push_back({.owner = batch.value(),
                              .from = claim.from,
                              .to = claim.to,
                              .configuration = claim.configuration,
                              .positions = positions,
                              .function = claim.function});
  index(invoker);
}

std::optional<SlicePositions> Books::take(InvokerId id, BatchId batch, const Claim& claim) {
  policy::Invoker& invoker = invokers_[id.index()];
  const Configuration& c = claim.configuration;
  if (!invoker.usable || invoker.vcpu_free < c.vcpu) return std::nullopt;
  if (c.slices == 0 && !invoker.warm && invoker.room.of(claim.function) == 0) return std::nullopt;
  const policy::Span span{claim.from, claim.to};
  if (invoker.reserved > 0 && policy::vcpus_taken(invoker, span) + c.vcpu > invoker.vcpu) return std::nullopt;
  SlicePositions positions;
  if (c.slices > 0) {
    if (!invoker.has_device(c.device)) return std::nullopt;
    std::optional<SlicePositions> found;
    if (invoker.ending > 0) found = free_slices(invoker, claim, Slices::idle);  // nobody follows without need
    if (!found) found = free_slices(invoker, claim, Slices::idle_or_ending);
    if (!found) return std::nullopt;
    positions = *found;
  }
  if (invoker.reserved > 0 && !instances_have_room(invoker, claim, positions)) return std::nullopt;
  hold(invoker, batch, claim, positions);
  expect_end(invoker, invoker.bookings.back());
  return positions;
}

std::optional<SlicePositions> Books::take_reserved(InvokerId id, ReservationId reservation, BatchId batch,
                                                   const Claim& claim, std::uint32_t members) {
  policy::Invoker& invoker = invokers_[id.index()];
  const auto it = find_booking(invoker, reservation.value(), true);
  const SlicePositions positions = it->positions;
  // Also where nothing new begins: a machine that drains does what it has promised.
  if (invoker.vcpu_free < claim.configuration.vcpu) return std::nullopt;
  // As long as was promised, which is longer than what is expected.
  const Duration length = std::max(it->to - it->from, claim.to - claim.from);
  if (!room_for_promise(invoker, *it, {claim.from, claim.from + length})) return std::nullopt;
  if (positions.slices != 0) {
    const policy::Gpu& gpu = invoker.gpus[positions.gpu];
    if ((gpu.free & positions.slices) != positions.slices) return std::nullopt;
    if (!invoker.warm && gpu.room.of(claim.function) == 0) return std::nullopt;
  } else if (!invoker.warm && invoker.room.of(claim.function) == 0) {
    return std::nullopt;
  }
  Claim promised = claim;
  promised.to = claim.from + length;
  change_members(invoker, it, 0, members, true);
  hold(invoker, batch, promised, positions);
  expect_end(invoker, invoker.bookings.back());
  return positions;
}

bool Books::take_running(InvokerId id, const RunningBatch& batch, Time now) {
  policy::Invoker& invoker = invokers_[id.index()];
  const SlicePositions& positions = batch.positions;
  if (positions.slices != 0) {
    if (positions.gpu >= invoker.gpus.size()) return false;
    if ((invoker.gpus[positions.gpu].free & positions.slices) != positions.slices) return false;
  }
  const Claim claim{batch.configuration, policy::SharedFunctionId::none(), now, now};  // nobody knows when it ends
  hold(invoker, batch.id, claim, positions);
  return true;
}

void Books::give_back(InvokerId id, BatchId batch) {
  policy::Invoker& invoker = invokers_[id.index()];
  const auto it = find_booking(invoker, batch.value(), false);
  const policy::Booking booking = *it;
  if (invoker.ahead > Duration{}) ends_.erase(end_of(invoker, booking));
  erase_booking(invoker, it);
  CHECK(invoker.running > 0);
  --invoker.running;
  if (booking.ending) {  // others may have it already
    --invoker.ending;
    return;
  }
  invoker.vcpu_free = vcpus_free(invoker);
  if (booking.positions.slices != 0) {
    policy::Gpu& gpu = invoker.gpus[booking.positions.gpu];
    CHECK((gpu.free & booking.positions.slices) == 0);
    gpu.free |= booking.positions.slices;
  }
  index(invoker);
}

std::tuple<Time, InvokerId, std::uint64_t> Books::end_of(const policy::Invoker& invoker,
                                                         const policy::Booking& booking) {
  return {booking.to - invoker.ahead, invoker.id, booking.owner};
}

void Books::expect_end(const policy::Invoker& invoker, const policy::Booking& booking) {
  const bool runs = !booking.reserved && !booking.ending && !booking.follows;
  if (invoker.ahead > Duration{} && runs && booking.positions.slices != 0 && booking.to > booking.from)
    ends_.insert(end_of(invoker, booking));
}

void Books::let_end(Time now) {
  while (!ends_.empty() && std::get<Time>(*ends_.begin()) <= now) {
    const auto [at, id, batch] = ends_.extract(ends_.begin()).value();
    policy::Invoker& invoker = invokers_[id.index()];
    policy::Booking& booking = *find_booking(invoker, batch, false);
    booking.ending = true;
    ++invoker.ending;
    invoker.vcpu_free = vcpus_free(invoker);
    invoker.gpus[booking.positions.gpu].free |= booking.positions.slices;
    index(invoker);
  }
}

std::optional<Time> Books::next_to_end() const {
  return ends_.empty() ? std::nullopt : std::optional(std::get<Time>(*ends_.begin()));
}

std::vector<BatchId> Books::follow(InvokerId id, BatchId batch) {
  policy::Invoker& invoker = invokers_[id.index()];
  std::vector<BatchId> out;
  if (invoker.ending == 0) return out;
  policy::Booking& own = *find_booking(invoker, batch.value(), false);
  const SlicePositions& wanted = own.positions;
  std::uint32_t vcpus = 0;  // of all that run, follow, or are ending, without those in the way
  std::vector<const policy::Booking*> others;
  for (const policy::Booking& booking : invoker.bookings) {
    if (booking.reserved) continue;
    vcpus += booking.configuration.vcpu;
    if (!booking.ending) continue;
    if (wanted.slices != 0 && booking.positions.gpu == wanted.gpu && (booking.positions.slices & wanted.slices) != 0) {
      vcpus -= booking.configuration.vcpu;
      out.emplace_back(booking.owner);
    } else {
      others.push_back(&booking);
    }
  }
  // Where there are too few vCPUs for all of them, it also waits for those that end first.
  std::sort(others.begin(), others.end(),
            [](const auto* a, const auto* b) { return std::pair(a->to, a->owner) < std::pair(b->to, b->owner); });
  for (const policy::Booking* other : others) {
    if (vcpus <= invoker.vcpu) break;
    vcpus -= other->configuration.vcpu;
    out.emplace_back(other->owner);
  }
  std::sort(out.begin(), out.end());
  own.follows = !out.empty();
  if (own.follows) ends_.erase(end_of(invoker, own));
  return out;
}

// Until now it was believed to begin when it was booked.
void Books::begin(InvokerId id, BatchId batch, Time now) {
  policy::Invoker& invoker = invokers_[id.index()];
  policy::Booking& booking = *find_booking(invoker, batch.value(), false);
  CHECK(booking.follows);
  booking.follows = false;
  booking.to = now + (booking.to - booking.from);
  booking.from = now;
  expect_end(invoker, booking);
}

void Books::reserve(InvokerId id, ReservationId reservation, const policy::Reserved& reserved) {
  policy::Invoker& invoker = invokers_[id.index()];
  const policy::Span span{reserved.from, reserved.to};
  CHECK(policy::vcpus_taken(invoker, span) + reserved.configuration.vcpu <= invoker.vcpu);
  CHECK((policy::slices_taken(invoker, reserved.positions.gpu, span) & reserved.positions.slices) == 0);
  invoker.bookings.push_back({.owner = reservation.value(),
                              .reserved = true,
                              .from = reserved.from,
                              .to = reserved.to,
                              .configuration = reserved.configuration,
                              .positions = reserved.positions,
                              .function = reserved.function,
                              .latest = reserved.latest,
                              .queue = reserved.queue});
  ++invoker.reserved;
  invoker.open += invoker.bookings.back().open() ? 1 : 0;
}

void Books::share(InvokerId id, ReservationId reservation, Time latest) {
  policy::Invoker& invoker = invokers_[id.index()];
  const auto it = find_booking(invoker, reservation.value(), true);
  CHECK(it->open());
  it->latest = std::min(it->latest, latest);
  change_members(invoker, it, 1, 0);
}

void Books::unreserve(InvokerId id, ReservationId reservation) {
  policy::Invoker& invoker = invokers_[id.index()];
  const auto it = find_booking(invoker, reservation.value(), true);
  change_members(invoker, it, 0, 1);
}

Duration Books::promised_time(InvokerId id, ReservationId reservation) const {
  const auto it = find_booking(invokers_[id.index()], reservation.value(), true);
  return it->to - it->from;
}

bool Books::take_memory(InvokerId id, std::optional<std::uint16_t> gpu, Bytes bytes) {
  if (free_memory(id, gpu) < bytes) return false;
  owe_memory(id, gpu, bytes);
  return true;
}

void Books::owe_memory(InvokerId id, std::optional<std::uint16_t> gpu, Bytes bytes) {
  policy::Invoker& invoker = invokers_[id.index()];
  (gpu ? invoker.gpus[*gpu].memory_free : invoker.memory_free) -= bytes;
}

Bytes Books::free_memory(InvokerId id, std::optional<std::uint16_t> gpu) const {
  const policy::Invoker& invoker = invokers_[id.index()];
  return gpu ? invoker.gpus[*gpu].memory_free : invoker.memory_free;
}

void Books::give_back_memory(InvokerId id, std::optional<std::uint16_t> gpu, Bytes bytes) {
  policy::Invoker& invoker = invokers_[id.index()];
  (gpu ? invoker.gpus[*gpu].memory_free : invoker.memory_free) += bytes;
}

policy::InstanceRoom& Books::room(InvokerId id, std::optional<std::uint16_t> gpu) {
  policy::Invoker& invoker = invokers_[id.index()];
  return gpu ? invoker.gpus[*gpu].room : invoker.room;
}

void Books::visit(Archive& archive) {
  archive(invokers_, lives_, cold_);
  if (!archive.is_loading()) return;
  by_free_ = {};
  ends_.clear();
  for (const policy::Invoker& invoker : invokers_) {
    index(invoker);
    for (const policy::Booking& booking : invoker.bookings) expect_end(invoker, booking);
  }
}

}  // namespace sluice::core
