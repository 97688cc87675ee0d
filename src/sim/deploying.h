// Deploying: the applications of an experiment in a world, if they can run there at all.
#pragma once
#include <memory>

#include "base/result.h"
#include "sim/world_state.h"

namespace sluice::sim {

// An error if a function has no profile or fits no machine.
[[nodiscard]] Status deploy(WorldState& world);
// What the scheduler is told of an application: its profiles may be wrong, then every time of a function is off by the
// same factor and nothing is said of its spread.
[[nodiscard]] std::shared_ptr<const Application> believed(const WorldState& world, const Deployment& deployment);

}  // namespace sluice::sim
