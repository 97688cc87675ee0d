#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::report {

std::string plot(const std::vector<PlotPoint>& points, double mark) {
  constexpr std::size_t kWidth = 64, kHeight = 10;
  if (points.size() < 2) return "";
  const auto [low_y, high_y] = std::minmax_element(points.begin(), points.end(),
                                                   [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; });
  const double x0 = points.front().x, x1 = points.back().x, y0 = low_y->y, y1 = high_y->y;
  const auto column = [&](double x) {
    return static_cast<std::size_t>((x - x0) / (x1 - x0) * static_cast<double>(kWidth - 1) + 0.5);
  };
  const auto row = [&](double y) {
    return static_cast<std::size_t>((y1 - y) / (y1 - y0) * static_cast<double>(kHeight - 1) + 0.5);
  };
  if (!(x1 > x0) || !(y1 > y0)) return "";
  std::vector<std::string> grid(kHeight, std::string(kWidth, ' '));
  if (mark >= x0 && mark <= x1) {
    for (std::string& line : grid) line[column(mark)] = '|';
  }
  for (const PlotPoint& point : points) grid[row(point.y)][column(point.x)] = '*';
  std::string out;
  for (std::size_t i = 0; i < kHeight; ++i) {
    std::string line = grid[i].substr(0, grid[i].find_last_not_of(' ') + 1);
    const std::string label = i == 0 ? fmt::format("{:.3g}", y1) : i + 1 == kHeight ? fmt::format("{:.3g}", y0) : "";
    out += fmt::format("{:>10} ┤{}\n", label, line);
  }
  out += fmt::format("{:>10} └{}\n", "", std::string(1, ' ') + fmt::format("{:<{}.0f}{:>.0f} ms", x0, kWidth - 10, x1));
  return out;
}

}  // namespace sluice::report
