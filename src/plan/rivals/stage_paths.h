// All ways through a workflow, from an entry to an exit, as lists of stages. For planners whose latency is that of the
// slowest path; only workflows with few of them can be listed.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/series_parallel.h"

namespace sluice::plan {

using StagePath = std::vector<std::uint32_t>;

// Nothing if there are more than `paths_max`. A join that needs fewer predecessors counts as if it needed all.
[[nodiscard]] std::optional<std::vector<StagePath>> stage_paths(const SeriesParallelTree& tree, std::size_t paths_max);

}  // namespace sluice::plan
