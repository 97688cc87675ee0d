// Acting: what the scheduler's commands do in a simulated world.
#pragma once
#include "sim/world_state.h"

namespace sluice::sim {

void act(WorldState& world, const Command& command, Time now);

}  // namespace sluice::sim
