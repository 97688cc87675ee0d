// Draws that both kinds of traces need, so that a minute or a gap of any number of requests is played in constant
// memory.
#pragma once
#include <cstdint>

#include "base/rng.h"

namespace sluice::workload {

// A whole number next to `value` whose mean is `value`. REQUIRES: 0 ≤ value ≤ 2^53.
[[nodiscard]] std::uint64_t round_at_random(double value, Rng& rng);
// The least of n uniform draws in [0, 1]. Taken again and again on what is left of an interval, it gives n sorted
// uniform instants: a Poisson process of which the number of arrivals is known. REQUIRES: n > 0.
[[nodiscard]] double least_uniform(std::uint64_t n, Rng& rng);

}  // namespace sluice::workload
