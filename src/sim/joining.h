// Joining: machines of a world join its scheduler, when they boot and after a gap in their link.
#pragma once
#include <cstddef>
#include <vector>

#include "sim/world_state.h"

namespace sluice::sim {

// A machine boots, with these instances loaded.
void join(WorldState& world, std::size_t machine, Time now, const std::vector<InstanceStatus>& instances = {});
// Its link is there again: it says all that it has.
void join_again(WorldState& world, std::size_t machine, Time now);

}  // namespace sluice::sim
