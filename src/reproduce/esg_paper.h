// The numbers that are known of ESG's evaluation, with where they come from. Absolute hit rates and costs are not among
// them: the slides give them as bars without values.
#pragma once
#include <optional>
#include <string_view>

#include "reproduce/row.h"

namespace sluice::reproduce {

struct Known {
  double value = 0;
  Mark mark = Mark::stated;
};
// Of a row of the grid: the configuration miss rates of orion and aquatope in the headline settings.
[[nodiscard]] std::optional<Known> known_number(std::string_view setting, std::string_view scheduler,
                                                std::string_view metric);

// ESG's hit rate over a baseline's, the lower end of what the slides give; points or relative is not said.
[[nodiscard]] double least_hit_gain(std::string_view baseline);
inline constexpr double kLeastCostRatio = 1.47;  // of a baseline over ESG: "saves 47 % to 187 %" (abstract)
inline constexpr double kOverheadMs = 10;        // ESG's search, groups of three: below
inline constexpr double kBruteForceMs = 7258;    // three stages of 256 configurations

}  // namespace sluice::reproduce
