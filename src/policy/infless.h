// INFless (ASPLOS 2022) as ESG's evaluation runs it: a fixed share of the objective per function; the largest batch
// that the arrival rate can fill in half of it, on the configuration and invoker with the most throughput per fragment
// left behind. The score never divides by what is used, so it uses much: the point of the comparison.
#pragma once
#include <memory>

#include "policy/policy.h"

namespace sluice::policy {

// Parameters: execution_share (0.5), vcpu_weight (64), slice_weight (2029), rate_weight (0.3); see the table in the
// source.
[[nodiscard]] std::unique_ptr<Dispatch> make_infless(const Parameters& parameters);

}  // namespace sluice::policy
