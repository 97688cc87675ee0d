// Orion (OSDI 2022) as ESG's evaluation runs it: when the first function of a request is scheduled, one search fixes
// the configurations of all its stages (plan/rivals/orion.h); later stages use the plan unchanged, whatever has
// happened since. Placed like ESG. Batches that cannot run as planned are counted as configuration misses.
#pragma once
#include <memory>

#include "policy/policy.h"

namespace sluice::policy {

// Parameters: states (5000), stop_first (0), sigma (0.05), quantile (1.645), cap (1), memo (1); see the table in the
// source.
[[nodiscard]] std::unique_ptr<Dispatch> make_orion(const Parameters& parameters);

}  // namespace sluice::policy
