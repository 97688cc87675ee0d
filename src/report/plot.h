// A small plot in plain characters, for frontiers on a terminal.
#pragma once
#include <string>
#include <vector>

namespace sluice::report {

struct PlotPoint {
  double x, y;
};

// `points` by ascending x; a bar of | stands at `mark` where it lies inside. About 12 lines, each ending in a newline.
[[nodiscard]] std::string plot(const std::vector<PlotPoint>& points, double mark);

}  // namespace sluice::report
