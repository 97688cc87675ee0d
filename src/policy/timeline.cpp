#include "policy/timeline.h"

#include <algorithm>
#include <bit>

#include "policy/slice_positions.h"

namespace sluice::policy {

// The most at one instant is reached where some booking begins, or at the start of the span.
std::uint32_t vcpus_taken(const Invoker& invoker, const Span& span) {
  const auto at = [&](Time instant) {
    std::uint32_t sum = 0;
    for (const Booking& b : invoker.bookings) sum += b.from <= instant && instant < b.to ? b.configuration.vcpu : 0;
    return sum;
  };
  std::uint32_t most = at(span.from);
  for (const Booking& b : invoker.bookings) {
    if (span.meets(b) && b.from > span.from) most = std::max(most, at(b.from));
  }
  return most;
}

std::uint64_t slices_taken(const Invoker& invoker, std::uint16_t gpu, const Span& span) {
  std::uint64_t taken = 0;
  for (const Booking& b : invoker.bookings) {
    if (b.positions.slices != 0 && b.positions.gpu == gpu && span.meets(b)) taken |= b.positions.slices;
  }
  return taken;
}

void Skyline::make(const Invoker& invoker, Time now, std::span<const Booking> more) {
  constexpr double kOverdue = 0.1;
  gpus_ = invoker.gpus.size();
  vcpus_ = invoker.vcpu;
  slices_ = gpus_ == 0 ? 0 : invoker.gpus.front().slices;
  layout_ = invoker.layout;
  device_ = invoker.device;
  steps_.assign(1, {.from = now});
  masks_.assign(gpus_, 0);
  changes_.clear();
  const auto add = [&](const Booking& b) {
    Time end = b.to;
    if (!b.reserved && end <= now) end = now + std::max((b.to - b.from) * kOverdue, Duration::ns(1));
    if (end <= now) return;
    changes_.push_back({std::max(b.from, now), &b, true});
    changes_.push_back({end, &b, false});
  };
  for (const Booking& b : invoker.bookings) add(b);
  for (const Booking& b : more) add(b);
  // Ends before begins, so that one may follow the other.
  std::sort(changes_.begin(), changes_.end(),
            [](const Change& a, const Change& b) { return a.at != b.at ? a.at < b.at : a.begins < b.begins; });
  active_.clear();
  for (const Change& change : changes_) {
    if (change.at > steps_.back().from) {
      steps_.push_back({change.at, steps_.back().vcpus});
      for (std::size_t g = 0; g < gpus_; ++g) masks_.push_back(masks_[masks_.size() - gpus_]);
    }
    const Booking& b = *change.booking;
    std::uint32_t& vcpus = steps_.back().vcpus;
    vcpus = change.begins ? vcpus + b.configuration.vcpu : vcpus - b.configuration.vcpu;
    if (b.positions.slices == 0 || b.positions.gpu >= gpus_) continue;
    std::uint64_t& mask = masks_[(steps_.size() - 1) * gpus_ + b.positions.gpu];
    if (change.begins) {
      active_.push_back(&b);
      mask |= b.positions.slices;
      continue;
    }
    // Not only its own may end: what runs for too long overlaps what was promised after it.
    std::erase(active_, &b);
    mask = 0;
    for (const Booking* other : active_) mask |= other->positions.gpu == b.positions.gpu ? other->positions.slices : 0;
  }
}

std::size_t Skyline::step_at(Time at) const {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), at, [](Time t, const Step& s) { return t < s.from; });
  return after == steps_.begin() ? 0 : static_cast<std::size_t>(after - steps_.begin()) - 1;
}

std::optional<SlicePositions> Skyline::fits(const Configuration& c, Time start, Duration length, std::uint64_t gpus,
                                            Time& next) const {
  const std::size_t first = step_at(start);
  next = end_of(first);
  std::size_t last = first;
  for (;; ++last) {
    if (steps_[last].vcpus + c.vcpu > vcpus_) {
      next = end_of(last);
      return std::nullopt;
    }
    if (end_of(last) >= start + length) break;
  }
  if (c.slices == 0) return SlicePositions{};
  for (std::size_t g = 0; g < gpus_; ++g) {
    if ((gpus >> g & 1) == 0) continue;
    std::uint64_t used = 0;
    for (std::size_t i = first; i <= last; ++i) used |= taken(i, g);
    if (const auto mask = free_positions({slices_, all_slices(slices_) & ~used}, c.slices, layout_))
      return SlicePositions{static_cast<std::uint16_t>(g), *mask};
  }
  return std::nullopt;
}

std::optional<Gap> Skyline::first(const Configuration& c, Time earliest, Duration length, std::uint64_t gpus) const {
  if (c.vcpu > vcpus_) return std::nullopt;
  if (c.slices > 0 && c.device != device_ && c.device != DeviceKind::gpu()) return std::nullopt;
  // A gap can only begin at `earliest` or where something ends.
  for (Time start = earliest, next; start < Time::max(); start = next) {
    if (const auto positions = fits(c, start, length, gpus, next)) return Gap{start, *positions};
  }
  return std::nullopt;
}

template <class IsOpen>
Span Skyline::open(Time at, const IsOpen& is_open) const {
  const std::size_t here = step_at(at);
  std::size_t first = here, last = here;
  while (first > 0 && is_open(first - 1)) --first;
  while (last + 1 < steps_.size() && is_open(last + 1)) ++last;
  return {steps_[first].from, end_of(last)};
}

std::uint32_t Skyline::vcpus_free(Time at) const {
  const std::uint32_t taken = steps_[step_at(at)].vcpus;
  return taken < vcpus_ ? vcpus_ - taken : 0;
}

std::uint32_t Skyline::slices_free(Time at, std::uint16_t gpu) const {
  return slices_ - static_cast<std::uint32_t>(std::popcount(taken(step_at(at), gpu)));
}

Span Skyline::open_vcpus(Time at, std::uint32_t vcpus) const {
  return open(at, [&](std::size_t i) { return steps_[i].vcpus + vcpus <= vcpus_; });
}

Span Skyline::open_slices(Time at, std::uint16_t gpu, std::uint32_t slices) const {
  return open(at, [&](std::size_t i) {
    return free_positions({slices_, all_slices(slices_) & ~taken(i, gpu)}, slices, layout_).has_value();
  });
}

std::optional<Gap> first_gap(const Invoker& invoker, const Configuration& c, SharedFunctionId function, Time earliest,
                             Duration length) {
  if (!invoker.usable || (c.slices == 0 && !invoker.warm && invoker.room.of(function) == 0)) return std::nullopt;
  std::uint64_t gpus = 0;
  for (std::size_t g = 0; g < invoker.gpus.size(); ++g) {
    if (invoker.warm || invoker.gpus[g].room.of(function) > 0) gpus |= std::uint64_t{1} << g;
  }
  Time begin = earliest;  // of all, so that none of them counts as overdue
  for (const Booking& b : invoker.bookings) begin = std::min(begin, b.from);
  Skyline skyline;
  skyline.make(invoker, begin);
  return skyline.first(c, earliest, length, gpus);
}

}  // namespace sluice::policy
