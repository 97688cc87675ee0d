// The bookings of an invoker over time: what is taken during a span, and where the next gap is. Used by the books,
// which must not promise anything twice, and by reserved admission, which looks for room in the future.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

// Skyline: what is taken on one machine from an instant on, as steps between which nothing changes. Made once of all
// bookings and asked for many gaps: O(bookings) each, instead of O(bookings²).
class Skyline {
 public:
  // What runs longer than was expected counts as taken for a little longer still: a tenth of its time.
  void make(const Invoker& invoker, Time now, std::span<const Booking> more = {});
  // The earliest start, not before `earliest`, at which `c` is free for `length`, on one of `gpus` (a bit each; of no
  // meaning without slices); equal starts go to the lowest GPU. Nothing if the machine is too small for it. REQUIRES:
  // earliest is not before the instant it was made for.
  [[nodiscard]] std::optional<Gap> first(const Configuration& c, Time earliest, Duration length,
                                         std::uint64_t gpus = ~std::uint64_t{0}) const;
  [[nodiscard]] std::uint32_t vcpus_free(Time at) const;
  [[nodiscard]] std::uint32_t slices_free(Time at, std::uint16_t gpu) const;
  // The stretch around `at` during which so many are free: from where they became free (the instant the skyline was
  // made for, at the earliest) to where they no longer are (Time::max(): they stay free).
  [[nodiscard]] Span open_vcpus(Time at, std::uint32_t vcpus) const;
  [[nodiscard]] Span open_slices(Time at, std::uint16_t gpu, std::uint32_t slices) const;
  // When `c`, which fits at `at` on this GPU, no longer does.
  [[nodiscard]] Time closes(Time at, const Configuration& c, std::uint16_t gpu) const {
    const Time vcpus = c.vcpu > 0 ? open_vcpus(at, c.vcpu).to : Time::max();
    return c.slices > 0 ? std::min(vcpus, open_slices(at, gpu, c.slices).to) : vcpus;
  }

 private:
  struct Step {
    Time from;
    std::uint32_t vcpus = 0;  // taken
  };
  [[nodiscard]] std::size_t step_at(Time at) const;
  [[nodiscard]] Time end_of(std::size_t step) const {
    return step + 1 < steps_.size() ? steps_[step + 1].from : Time::max();
  }
  [[nodiscard]] std::uint64_t taken(std::size_t step, std::size_t gpu) const { return masks_[step * gpus_ + gpu]; }
  template <class IsOpen>
  [[nodiscard]] Span open(Time at, const IsOpen& is_open) const;
  // Where `c` fits from `start` on for `length`; else `next` is the first later start that may do.
  [[nodiscard]] std::optional<SlicePositions> fits(const Configuration& c, Time start, Duration length,
                                                   std::uint64_t gpus, Time& next) const;

  std::vector<Step> steps_;           // ascending; the last one has no end
  std::vector<std::uint64_t> masks_;  // slices taken, by step and GPU
  std::size_t gpus_ = 0;
  std::uint32_t vcpus_ = 0, slices_ = 0;
  SliceLayout layout_ = SliceLayout::any;
  DeviceKind device_;
  struct Change {
    Time at;
    const Booking* booking;
    bool begins;
  };
  std::vector<Change> changes_;  // scratch
  std::vector<const Booking*> active_;
};

// The earliest gap of one machine, where the function is loaded or everything is warm.
[[nodiscard]] std::optional<Gap> first_gap(const Invoker& invoker, const Configuration& configuration,
                                           SharedFunctionId function, Time earliest, Duration length);

}  // namespace sluice::policy
