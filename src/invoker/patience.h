// Patience: how long a worker may take before it counts as hanging. The same for the agent and the profiler.
#pragma once
#include <algorithm>

#include "base/time.h"

namespace sluice::invoker {

struct Patience {
  // A batch that somebody waits for hangs if it takes longer than this, and than so many times what is expected.
  Duration hang_least = Duration::s(10);
  double hang_factor = 20;
  Duration load_max = Duration::s(120);
  // One that nobody waits for any more is overdue after this, and so many times what is expected: three times a 99th
  // percentile that is half as much again as the mean. Then its worker gets no more work, and no vCPU; if it has not
  // answered this long after it was given up, it is ended.
  Duration overdue_least = Duration::ms(100), end_least = Duration::s(1);
  double overdue_factor = 4.5;

  [[nodiscard]] Duration with_batch(Duration expected) const { return std::max(hang_least, expected * hang_factor); }
  [[nodiscard]] Duration until_overdue(Duration expected) const {
    return std::max(overdue_least, expected * overdue_factor);
  }
  [[nodiscard]] Duration until_end(Duration expected) const { return std::max(end_least, expected * overdue_factor); }
};

}  // namespace sluice::invoker
