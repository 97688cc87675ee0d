// The figures of simulated runs, for the table, the JSON and the report of `sluice sim`.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/spread.h"
#include "sim/result.h"

namespace sluice::report {

using Runs = std::vector<const sim::RunResult*>;  // of one scheduler, one a seed; never empty

struct Figure {
  std::string heading;  // of its column
  Spread value;         // in the unit of the heading
  int digits = 0;       // after the point
};
// What the table shows of a scheduler, in the order of its columns.
[[nodiscard]] std::vector<Figure> figures(const Runs& runs);
// "98.20 ± 0.11"
[[nodiscard]] std::string to_string(const Figure& figure);

// Fields as in docs/simulating.md; with several runs their means, each run and the intervals.
[[nodiscard]] nlohmann::ordered_json figures_json(const Runs& runs);
[[nodiscard]] std::uint64_t hash_of(const Runs& runs);

}  // namespace sluice::report
