// The sweeps of `sluice reproduce esg`: one assumption varied, everything else as in the settings.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "reproduce/esg.h"
#include "reproduce/esg_points.h"

namespace sluice::reproduce {

// Experiment 5: Orion with 50 to 50,000 states a search, strict-light; its time as measured and as the paper has it.
// And in the headline settings with plans whose batches may be larger than what waits: that decides its miss rate.
[[nodiscard]] std::vector<Point> orion_points(const Experiment& evaluation);

// REQUIRES: options.sweeps is not empty.
[[nodiscard]] Result<std::vector<Row>> play_sweeps(const EsgOptions& options, const Experiment& evaluation,
                                                   Player& player);

}  // namespace sluice::reproduce
