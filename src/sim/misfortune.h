// Misfortune: what may go wrong in a world after a decision (faults.h): machines, links, objects, profiles, quotas.
#pragma once
#include "sim/world_state.h"

namespace sluice::sim {

void strike(WorldState& world, Time now);

}  // namespace sluice::sim
