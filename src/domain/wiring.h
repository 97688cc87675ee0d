// Which value each input of a stage comes from: explicit `inputs` first, then same-named outputs of the only
// predecessor, then, for entry stages, the request's inputs.
#pragma once
#include <string_view>
#include <vector>

#include "domain/application.h"

namespace sluice {

// "*" as a name stands for everything there is: used where neither side declares names.
inline constexpr std::string_view kEverything = "*";

// The declared ports of a stage; nullptr where nothing is declared (pass stages, functions without declarations).
[[nodiscard]] const std::vector<Port>* declared_inputs(const Application& application, const Stage& stage);
[[nodiscard]] const std::vector<Port>* declared_outputs(const Application& application, const Stage& stage);

// The inputs of `stage` with their sources, sorted by input name. Inputs that get no value are left out.
[[nodiscard]] std::vector<InputBinding> wiring(const Application& application, const Workflow& workflow, StageId stage);

}  // namespace sluice
