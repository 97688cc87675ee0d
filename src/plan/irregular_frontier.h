// The frontier of an irregular region: exact by enumeration where that is small, else good plans with a proven error.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/frontier.h"
#include "plan/irregular_region.h"

namespace sluice::plan {

struct IrregularFrontier {
  Frontier frontier;
  // For each point of the frontier a point of every part, one row after the other.
  std::vector<std::uint32_t> choices;
};

// Large regions: for a series of deadlines every part gets time in proportion to its fastest, so that no path is
// longer than the deadline, and then the slack that is left; the error is measured against a bound in which every part
// may use all slack of the longest path through it. O(deadlines · edges).
[[nodiscard]] IrregularFrontier irregular_frontier(const IrregularRegion& region,
                                                   std::span<const Frontier* const> parts, std::size_t points_max);

}  // namespace sluice::plan
