// How long ESG's search and brute force take here, beside the paper's 10 ms and 7258 ms: timed on the machine at hand,
// so that these rows alone are not the same on every machine.
#pragma once
#include <vector>

#include "reproduce/esg_player.h"
#include "reproduce/row.h"

namespace sluice::reproduce {

// The three-stage image classification with a full queue, at every objective. Nothing without a stopwatch.
[[nodiscard]] std::vector<Row> search_times(const Experiment& evaluation, const Means& means);

}  // namespace sluice::reproduce
