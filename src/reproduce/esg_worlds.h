// Settings of ESG's evaluation in worlds that its planners do not assume: times that follow other laws than the normal
// one they plan with, and GPUs whose slices cannot start everywhere.
#pragma once
#include <vector>

#include "reproduce/esg_points.h"

namespace sluice::reproduce {

// Log-normal times, stragglers, profiles that drift; the setting itself first. Profiles say what they say there, but
// for the spread of log-normal times: then only the law is another.
[[nodiscard]] std::vector<Point> law_points(Setting setting, const Experiment& base);
// Slices that are interchangeable, and the start slots of MIG.
[[nodiscard]] std::vector<Point> layout_points(Setting setting, const Experiment& base);

// Profiles that are models say so much of their spread.
void believe_noise(Experiment& experiment, double sigma);
// A point for all contenders, with ESG's twins searched for briefly.
[[nodiscard]] Point tuned_point(std::string setting, Experiment set_up);

}  // namespace sluice::reproduce
