// Happening: requests come, batches end, instances are loaded, machines are found lost or come back.
#pragma once
#include "sim/world_state.h"

namespace sluice::sim {

inline constexpr Time kStart = Time::from_ns(0);  // of every world

void happen(WorldState& world, const Happening& happening);
// The next request of the workload, if there is one more.
void schedule_arrival(WorldState& world);

}  // namespace sluice::sim
