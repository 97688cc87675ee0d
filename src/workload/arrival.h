// Arrival: one request of a workload, as stream.h gives them and the simulator plays them.
#pragma once
#include <cstdint>

#include "base/time.h"

namespace sluice::workload {

struct Arrival {
  Duration at;                    // since the start of the workload; never below that of the arrival before
  std::uint32_t application = 0;  // position in the experiment's list
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

}  // namespace sluice::workload
