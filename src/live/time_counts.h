// TimeCounts: how long something took that happens often, as counts up to fixed bounds. Filled by Runner with every
// decision and step, so adding costs a few nanoseconds; a copy goes into every snapshot.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace sluice::live {

struct TimeCounts {
  static constexpr std::array<std::int64_t, 16> kBoundsNs = {
      1'000,   2'500,     5'000,     10'000,    25'000,     50'000,     100'000,    250'000,
      500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000, 25'000'000, 50'000'000, 100'000'000};
  std::array<std::uint64_t, kBoundsNs.size() + 1> counts{};  // up to each bound and above the one before; the rest
  std::uint64_t sum_ns = 0, max_ns = 0;

  void add(Duration took) {
    const std::int64_t ns = std::max<std::int64_t>(0, took.count_ns());
    std::size_t bucket = 0;
    while (bucket < kBoundsNs.size() && ns > kBoundsNs[bucket]) ++bucket;
    ++counts[bucket];
    sum_ns += static_cast<std::uint64_t>(ns);
    max_ns = std::max(max_ns, static_cast<std::uint64_t>(ns));
  }
};

}  // namespace sluice::live
