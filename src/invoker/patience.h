// Patience: how long a worker may take before it counts as hanging. The same for the agent and the profiler.
#pragma once
#include <algorithm>

#include "base/time.h"

namespace sluice::invoker {

struct Patience {
  // A batch that takes longer than this, and than so many times what is expected, hangs.
  Duration hang_least = Duration::s(10);
  double hang_factor = 20;
  Duration load_max = Duration::s(120);
  [[nodiscard]] Duration with_batch(Duration expected) const { return std::max(hang_least, expected * hang_factor); }
};

}  // namespace sluice::invoker
