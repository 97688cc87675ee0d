// Demand: how much a function is needed, by what was seen of it. State of the core, one for each function, kept while
// there are machines on which functions have to be loaded; eviction, prewarming and plans read it.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/archive.h"
#include "base/time.h"

namespace sluice::policy {

struct Demand {
  std::uint64_t calls = 0;  // instants at which it was called
  Time last;                // of them
  double gap_ms = 0;        // between them: an exponential mean
  std::uint32_t ahead = 0;  // stages that run it, of requests in the system that have not come so far
  double load_ms = -1;      // measured, from nothing: an exponential mean; negative: never
  double raise_ms = -1;     // likewise, from host memory

  void called(Time now) {
    if (calls > 0 && now == last) return;  // the same batch, or a fan-out
    if (calls > 0) {
      const double gap = (now - last).to_ms();
      gap_ms = calls == 1 ? gap : gap_ms + kWeight * (gap - gap_ms);
    }
    last = now;
    ++calls;
  }
  void loaded(double ms, bool from_host) {
    double& mean = from_host ? raise_ms : load_ms;
    mean = mean < 0 ? ms : mean + kWeight * (ms - mean);
  }
  // Calls per millisecond that are to be expected. One that is not called for longer than usual is taken to be called
  // less often from now on.
  [[nodiscard]] double per_ms(Time now) const {
    if (calls == 0) return 0;
    const double age = (now - last).to_ms();
    return 1 / std::max({calls == 1 ? kUnknownMs : gap_ms, age, 1.0});
  }
  void visit(Archive& a) { a(calls, last, gap_ms, ahead, load_ms, raise_ms); }

 private:
  static constexpr double kWeight = 0.2;
  static constexpr double kUnknownMs = 60'000;  // until the second call
};

}  // namespace sluice::policy
