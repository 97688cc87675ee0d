// Three applications made of models that were measured on MIG instances of an A100 (spec/csv/mig_profile.h), chains of
// three, one model in two of them. Used by azure.h; the measurements are read from outside and are no part of Sluice.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/application.h"
#include "spec/load.h"

namespace sluice::reproduce {

struct MigChain {
  std::string_view application;
  std::array<std::string_view, 3> models;  // names of files without .csv
};
[[nodiscard]] const std::array<MigChain, 3>& mig_chains();

// `folder` holds a CSV for each model. The spread of all times is `noise` times their mean.
[[nodiscard]] Result<std::vector<Application>> mig_applications(const std::string& folder, double noise,
                                                                const spec::ReadFile& read = spec::read_from_disk);

}  // namespace sluice::reproduce
