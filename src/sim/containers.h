// Which containers are warm when a simulation with counted instances begins: for every function as many as its load
// needs at the least configuration with a fifth in hand, spread over the machines from its home on (our choice;
// docs/simulating.md). With a trace nothing is known ahead, and everything begins cold.
#pragma once
#include <span>
#include <vector>

#include "domain/events.h"
#include "domain/experiment.h"

namespace sluice::sim {

// One list per machine. REQUIRES: all functions of the applications have profiles; ids count from 0.
[[nodiscard]] std::vector<std::vector<InstanceStatus>> containers_at_start(const Experiment& experiment,
                                                                           std::span<const NodeGroup> machines);

// Requests per second over all applications; 0 for a trace.
[[nodiscard]] double mean_rate(const Arrivals& arrivals);

}  // namespace sluice::sim
