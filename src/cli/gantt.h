// One request as a picture: its stages over time against its deadline. Used by `sluice trace`.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace sluice::cli {

struct GanttStage {
  std::string name;
  double ready_ms = 0;                     // after the arrival, like all times here
  std::optional<double> start_ms, end_ms;  // nothing: not yet
  double load_ms = 0;                      // after `ready_ms`: it waited for its function to be loaded
  std::string beside;                      // configuration and the like
};

struct Gantt {
  std::vector<GanttStage> stages;
  double deadline_ms = 0;
  double until_ms = 0;  // what still waits or runs is drawn up to here
  std::size_t width = 50;
};

inline constexpr const char* kGanttLegend = ". queue   # run   ~ loading   | deadline";

// A line for each stage and one for the scale. A stage that ran has one `#` at least.
[[nodiscard]] std::string gantt(const Gantt& gantt);

}  // namespace sluice::cli
