#include "policy/timeline.h"

#include <algorithm>

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

namespace {

std::optional<SlicePositions> free_during(const Invoker& invoker, const Configuration& c, SharedFunctionId function,
                                          const Span& span) {
  if (vcpus_taken(invoker, span) + c.vcpu > invoker.vcpu) return std::nullopt;
  if (c.slices == 0) return SlicePositions{};
  if (!invoker.has_device(c.device)) return std::nullopt;
  for (std::size_t g = 0; g < invoker.gpus.size(); ++g) {
    if (!invoker.warm && invoker.gpus[g].room.of(function) == 0) continue;
    const auto gpu = static_cast<std::uint16_t>(g);
    const std::uint32_t slices = invoker.gpus[g].slices;
    const auto mask =
        free_positions({slices, all_slices(slices) & ~slices_taken(invoker, gpu, span)}, c.slices, invoker.layout);
    if (mask) return SlicePositions{gpu, *mask};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Gap> first_gap(const Invoker& invoker, const Configuration& c, SharedFunctionId function, Time earliest,
                             Duration length) {
  if (!invoker.usable || (c.slices == 0 && !invoker.warm && invoker.room.of(function) == 0)) return std::nullopt;
  // A gap can only begin at `earliest` or where something ends.
  std::vector<Time> starts{earliest};
  for (const Booking& b : invoker.bookings) {
    if (b.to > earliest) starts.push_back(b.to);
  }
  std::sort(starts.begin(), starts.end());
  for (const Time start : starts) {
    if (const auto positions = free_during(invoker, c, function, {start, start + length}))
      return Gap{start, *positions};
  }
  return std::nullopt;
}

}  // namespace sluice::policy
