// What `sluice sim` prints: a table for people, or JSON.
#pragma once
#include <string>
#include <vector>

#include "domain/experiment.h"
#include "report/sim_figures.h"

namespace sluice::report {

// A line a scheduler, then the hash of all commands of each.
[[nodiscard]] std::string sim_table(const std::vector<Runs>& schedulers);
// Fields as in docs/simulating.md.
[[nodiscard]] std::string sim_json(const Experiment& experiment, const std::vector<Runs>& schedulers);

}  // namespace sluice::report
