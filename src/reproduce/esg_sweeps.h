// The sweeps of `sluice reproduce esg`: one assumption varied, everything else as in the settings.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "reproduce/esg.h"
#include "reproduce/esg_points.h"

namespace sluice::reproduce {

// Experiment 5: Orion with 50 to 50,000 states a search, strict-light; its time as measured and as the paper has it.
// And in the headline settings with plans whose batches may be larger than what waits: that decides its miss rate.
[[nodiscard]] std::vector<Point> orion_points(const Experiment& evaluation);

// The grid and all sweeps whose tables are in docs/reproduce-esg.md and docs/esg-assumptions.md.
inline constexpr std::string_view kPage = "page";
[[nodiscard]] std::vector<std::string> page_sweeps();

// An error says which of them there is not.
[[nodiscard]] Status check_sweeps(const std::vector<std::string>& sweeps);
// What playing them will take, for Means::expect; those of traces say it themselves. REQUIRES: check_sweeps.
[[nodiscard]] std::uint64_t work_of_sweeps(const EsgOptions& options, const Experiment& evaluation,
                                           const Length& length);
[[nodiscard]] Result<std::vector<Row>> play_sweeps(const EsgOptions& options, const Experiment& evaluation,
                                                   const Length& length, Player& player);

}  // namespace sluice::reproduce
