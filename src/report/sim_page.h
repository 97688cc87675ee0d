// The report of `sluice sim --html`: one self-contained page (web/report.html) with the runs inside as JSON.
#pragma once
#include <string>
#include <vector>

#include "domain/experiment.h"
#include "report/sim_figures.h"
#include "sim/run_shape.h"
#include "sim/run_window.h"

namespace sluice::report {

// One scheduler. Shape and window are of the first run.
struct Reported {
  Runs runs;
  const sim::RunShape* shape = nullptr;
  const sim::RunWindow* window = nullptr;
};

// How many requests the closer look may have, so that the page stays small: a few megabytes.
[[nodiscard]] std::uint64_t window_length(const Experiment& experiment, std::size_t schedulers);
// The whole page. REQUIRES: all windows begin at the same request.
[[nodiscard]] std::string report_html(const Experiment& experiment, const std::vector<Reported>& schedulers);

}  // namespace sluice::report
