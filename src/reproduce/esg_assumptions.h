// Which assumptions bring out what ESG's paper reports: its five schedulers in the headline settings, with one
// assumption changed at a time and with all of them changed together.
#pragma once
#include <span>
#include <vector>

#include "reproduce/esg_points.h"

namespace sluice::reproduce {

// Settings of the points are "strict-light/cold-containers".
[[nodiscard]] std::vector<Point> assumption_points(const Experiment& evaluation);

// Beside the usual rows, what of the paper comes out with every assumption (experiment `assumptions-judged`, the
// judgement in the place of the scheduler, metric `value`).
[[nodiscard]] std::vector<Row> assumption_rows(std::span<const PlayedPoint> points);

}  // namespace sluice::reproduce
