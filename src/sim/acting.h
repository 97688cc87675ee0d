// Acting: what the scheduler's commands do in a simulated world.
#pragma once
#include "sim/world_state.h"

namespace sluice::sim {

void act(WorldState& world, const Command& command, Time now);
// A batch gives back what it held on its machine, and those begin that waited for that. REQUIRES: it had begun.
void leave_machine(WorldState& world, const StartBatch& ended, Time now);

}  // namespace sluice::sim
