// What all runs of an experiment share. Made once and handed to every World of it (WorldOptions::prepared).
#pragma once
#include <string_view>

#include "base/result.h"
#include "domain/experiment.h"
#include "policy/catalog.h"

namespace sluice::sim {

// Nothing for schedulers that prepare nothing; for `aquatope` its presets, which may take seconds per application. An
// error names the application that cannot be modelled.
[[nodiscard]] Result<policy::Prepared> prepare(const Experiment& experiment, std::string_view scheduler);

}  // namespace sluice::sim
