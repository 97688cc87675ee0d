// Workloads nobody tuned to: the machines and objectives of ESG's evaluation under Azure's traces, and models measured
// on an A100 instead of its profiles. Schedulers may be tuned with `azure-100`; the others are only reported. The data
// are read from a folder; examples/traces holds a sample of them (docs/reproduce-azure.md).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/experiment.h"
#include "spec/load.h"
#include "workload/azure_functions.h"

namespace sluice::reproduce {

struct AzureData {
  workload::AzureFunctions sample_100;
  workload::AzureFunctions sample_500;  // without the functions of sample_100
  std::string llm_trace;                // the text of the code trace
  std::vector<Application> measured;    // mig_applications.h
};
// `folder` holds azure-functions-2019, azure-llm-2023 and a100-mig-parvagpu. An error says what is missing or wrong.
[[nodiscard]] Result<AzureData> read_azure_data(const std::string& folder,
                                                const spec::ReadFile& read = spec::read_from_disk);

// One stream of one setting.
struct AzureCell {
  std::string experiment;  // azure-100, azure-500, azure-llm or a100-mig
  std::string setting;  // strict-60%, …, relaxed-100%: of the cluster's slices over the mean slice-seconds at (1,1,1)
  std::shared_ptr<const Experiment> set_up;
  std::shared_ptr<const std::string> trace_text;
  std::uint64_t seed = 1;
};
// Every experiment (or the one named), objective and load; streams 1, 2, … of each together. `evaluation` is ESG's, of
// which arrivals and objective are replaced; its workload says how many requests are wanted. With measured models the
// objectives are 2.5 times as long, 2, 2.5 and 3 times L: more slices hardly make a batch of one faster, so that nobody
// could be met in 0.8 L, and it is what 0.8, 1.0 and 1.2 L are with ESG's profiles in terms of the fastest way through
// a chain.
[[nodiscard]] Result<std::vector<AzureCell>> azure_cells(const Experiment& evaluation, const AzureData& data,
                                                         std::uint64_t streams, std::string_view only = {});

}  // namespace sluice::reproduce
