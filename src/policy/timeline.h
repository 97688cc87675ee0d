// The bookings of an invoker over time: what is taken during a span, and where the next gap is. Used by the books,
// which must not promise anything twice, and by reserved admission, which looks for room in the future.
#pragma once
#include <cstdint>
#include <optional>

#include "policy/view.h"

namespace sluice::policy {

struct Span {
  Time from, to;  // without its end
  [[nodiscard]] bool meets(const Booking& b) const { return b.from < to && from < b.to; }
};

// The most vCPUs that are taken at any instant of the span.
[[nodiscard]] std::uint32_t vcpus_taken(const Invoker& invoker, const Span& span);
// The slices of a GPU that are taken at any instant of the span.
[[nodiscard]] std::uint64_t slices_taken(const Invoker& invoker, std::uint16_t gpu, const Span& span);

struct Gap {
  Time from;
  SlicePositions positions;
};
// The earliest start, not before `earliest`, at which the configuration is free for `length`; equal starts go to the
// lowest GPU. Nothing if the invoker could never run it. O(bookings²).
[[nodiscard]] std::optional<Gap> first_gap(const Invoker& invoker, const Configuration& configuration,
                                           SharedFunctionId function, Time earliest, Duration length);

}  // namespace sluice::policy
