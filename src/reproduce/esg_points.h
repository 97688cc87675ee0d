// Points: experiments that differ in one thing, each played to the same contenders on the same streams. The grid of
// settings and all sweeps are lists of points.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/esg_twins.h"
#include "reproduce/row.h"

namespace sluice::reproduce {

struct Point {
  std::string setting;  // of its rows: "strict-light", or with what differs: "strict-light/sigma=0.1"
  Experiment set_up;
  std::vector<Contender> contenders;
  bool begins_empty = false;     // counted instances: nothing is loaded at the start
  Tuning tuning = Tuning::none;  // how ESG's twins among the contenders get their parameters; none: they have them
};

struct PlayedPoint {
  std::string setting;
  std::vector<std::pair<std::string, std::vector<Figures>>> contenders;  // in their order; figures by stream
  std::optional<EsgTwins> twins;                                         // that were searched for
  [[nodiscard]] const std::vector<Figures>* find(std::string_view contender) const;
};

// What playing them will take, for Means::expect.
[[nodiscard]] std::uint64_t work_of(const std::vector<Point>& points, const Length& length);
[[nodiscard]] Result<std::vector<PlayedPoint>> play_points(Player& player, const std::string& experiment,
                                                           const std::vector<Point>& points, std::uint64_t streams);
// A row per contender and metric, with the paper's number where one is known; with several streams also half widths of
// 95 % intervals (`METRIC_ci95`), and of hits and cost the paired difference to `sluice` (`METRIC_less_sluice`). Of
// twins that were searched for their parameters (experiment `tuning`).
[[nodiscard]] std::vector<Row> rows_of(const std::string& experiment, const PlayedPoint& point);
[[nodiscard]] std::vector<Row> rows_of(const std::string& setting, const EsgTwins& twins);

}  // namespace sluice::reproduce
