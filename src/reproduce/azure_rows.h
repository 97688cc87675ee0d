// Plays the workloads nobody tuned to (azure.h) to all schedulers: the sweeps `azure` and, one experiment each,
// `azure-100`, `azure-500`, `azure-llm` and `a100-mig` of `sluice reproduce esg`.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "reproduce/azure.h"
#include "reproduce/esg_player.h"
#include "reproduce/row.h"

namespace sluice::reproduce {

[[nodiscard]] bool is_azure_sweep(std::string_view sweep);

// Rows as of other sweeps (esg_points.h), with the name of the experiment instead of the sweep's. Contenders:
// those of the main tables, ESG tuned with the short grid. REQUIRES: is_azure_sweep(sweep).
[[nodiscard]] Result<std::vector<Row>> azure_rows(std::string_view sweep, const AzureData& data,
                                                  const Experiment& evaluation, std::uint64_t streams, Player& player);

}  // namespace sluice::reproduce
