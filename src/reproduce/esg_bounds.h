// What is left to gain: every contender's runs beside the bounds and the noise-aware "together" figure.
#pragma once
#include <vector>

#include "reproduce/esg_points.h"

namespace sluice::reproduce {

// What a miss costs in the "together" figure and in `cost_with_misses`: 9,000 $/h · ms, as in the decision notes.
inline constexpr Dollars kMissPrice = 9'000 / 3.6e6;

// Metrics, of stream 1 unless said otherwise: `most_hits` (scheduler "bound"); `together_per_request`,
// `cost_with_misses` (dollars and price of misses per request); `cost_with_misses_over_together`; `cost_over_least`
// (dollars over the least that the same met requests can have cost).
[[nodiscard]] Result<std::vector<Row>> play_bounds(const std::vector<Setting>& settings, const Experiment& evaluation,
                                                   const Length& length, Player& player);

}  // namespace sluice::reproduce
