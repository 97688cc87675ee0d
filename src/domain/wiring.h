// Which value each input of a stage comes from: explicit `inputs` first, then same-named outputs of the only
// predecessor, then the request's inputs for entry stages.
#pragma once
#include <vector>

#include "domain/application.h"

namespace sluice {

// The inputs of `stage` with their sources, sorted by input name. Where neither side declares names, `input` and
// `output` are "*": everything the predecessor gives.
[[nodiscard]] std::vector<InputBinding> wiring(const Application& application, const Workflow& workflow, StageId stage);

}  // namespace sluice
