// Points: experiments that differ in one thing, each played to the same contenders on the same streams. The grid of
// settings and all sweeps are lists of points.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/esg_contenders.h"
#include "reproduce/row.h"

namespace sluice::reproduce {

struct Point {
  std::string setting;  // of its rows: "strict-light", or with what differs: "strict-light/sigma=0.1"
  Experiment set_up;
  std::vector<Contender> contenders;
  std::vector<EsgTuning>
      tunings{};  // the parameters of `esg-tuned`: the best of these on the first stream; empty: as is
};

struct PlayedPoint {
  std::string setting;
  std::vector<std::pair<std::string, std::vector<Figures>>> contenders;  // in their order; figures by stream
  std::optional<EsgTuning> tuned;
  [[nodiscard]] const std::vector<Figures>* find(std::string_view contender) const;
};

// What playing them will take, for Means::expect.
[[nodiscard]] std::uint64_t work_of(const std::vector<Point>& points, const Length& length);
[[nodiscard]] Result<std::vector<PlayedPoint>> play_points(Player& player, const std::string& experiment,
                                                           const std::vector<Point>& points, std::uint64_t streams);
// A row per contender and metric, with the paper's number where one is known; with several streams also half widths of
// 95 % intervals (`METRIC_ci95`), and of hits and cost the paired difference to `sluice` (`METRIC_less_sluice`).
[[nodiscard]] std::vector<Row> rows_of(const std::string& experiment, const PlayedPoint& point);

}  // namespace sluice::reproduce
