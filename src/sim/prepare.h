// What all runs of an experiment share. Made once and handed to every World of it (WorldOptions::prepared).
#pragma once
#include <string_view>

#include "base/result.h"
#include "domain/experiment.h"
#include "plan/workflow_model.h"
#include "policy/catalog.h"

namespace sluice::sim {

// The application as the experiment deploys it: with the experiment's prices, if it has its own.
[[nodiscard]] Application as_deployed(const Experiment& experiment, const Application& application);
// Its latency objective: as deployed, or the experiment's multiple of the time at minimum configurations.
[[nodiscard]] Duration objective_of(const Experiment& experiment, const Application& application,
                                    const plan::WorkflowModel& model);

// Nothing for schedulers that prepare nothing; for `aquatope` its presets, which may take seconds per application. An
// error names the application that cannot be modelled.
[[nodiscard]] Result<policy::Prepared> prepare(const Experiment& experiment, std::string_view scheduler);

}  // namespace sluice::sim
