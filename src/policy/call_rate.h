// CallRate: how often something is called, as an exponential mean over some time, made right for the time before the
// first call. A value that policies keep in their state.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/archive.h"
#include "base/time.h"
#include "profile/portable_math.h"

namespace sluice::policy {

struct CallRate {
  static constexpr double kMemoryMs = 20'000;
  std::uint64_t seen = 0;
  Time first, last;
  double sum = 0;  // of calls, each fading with its age

  void add(Time now, double memory_ms = kMemoryMs) {
    if (seen == 0) first = now;
    sum = sum * fade(now - last, memory_ms) + 1;
    last = now;
    ++seen;
  }
  // Calls per millisecond; 0 until there are a few. `memory_ms` as in add().
  [[nodiscard]] double per_ms(Time now, double memory_ms = kMemoryMs) const {
    constexpr std::uint64_t kFew = 5;
    if (seen < kFew) return 0;
    const bool long_ago = (now - first).to_ms() > 10 * memory_ms;
    const double covered = long_ago ? memory_ms : memory_ms * (1 - fade(now - first, memory_ms));
    return (sum * fade(now - last, memory_ms) - 1) / std::max(covered, 1.0);
  }
  void visit(Archive& a) { a(seen, first, last, sum); }

 private:
  static double fade(Duration age, double memory_ms) {
    return profile::portable_exp(-std::min(age.to_ms() / memory_ms, 700.0));
  }
};

}  // namespace sluice::policy
