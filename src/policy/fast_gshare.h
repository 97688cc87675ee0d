// FaST-GShare (ICPP 2023) as ESG's evaluation runs it: a fixed share of the objective per function; of the
// configurations within it the one with the most throughput per price, on the invoker it fills best. Prefers large,
// slow batches up to the limit.
#pragma once
#include <memory>

#include "policy/policy.h"

namespace sluice::policy {

// Parameters: vcpu_price_weight (1); see the table in the source.
[[nodiscard]] std::unique_ptr<Dispatch> make_fast_gshare(const Parameters& parameters);

}  // namespace sluice::policy
