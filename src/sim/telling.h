// Telling: what the scheduler of a world is told, with all that look on: recorder, oracles, the invariants, and a
// shadow that shows whether a scheduler that was saved and loaded decides the same.
#pragma once
#include "sim/world_state.h"

namespace sluice::sim {

void tell(WorldState& world, const Event& event, Time now);
// The one that was saved decides too. REQUIRES: there is a shadow, and the scheduler has decided into `commands`.
void compare_with_shadow(WorldState& world, Time now);

}  // namespace sluice::sim
