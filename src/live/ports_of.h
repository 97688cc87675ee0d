// What callers see of an application as a whole: its inputs, its outputs, the largest batch. Used by Runner when an
// application is deployed; walking the wiring takes too long to be done for every snapshot.
#pragma once
#include <cstdint>
#include <vector>

#include "domain/application.h"

namespace sluice::live {

// What callers have to give: the inputs of stages that come from the request. Functions declare one item of a list.
// Nothing is declared where a workflow inside of a foreach reads the request.
[[nodiscard]] std::vector<Port> inputs_of(const Application& application);
[[nodiscard]] std::vector<Port> outputs_of(const Application& application);
[[nodiscard]] std::uint32_t batch_max_of(const Application& application);
// Whether a foreach goes over what requests bring, so that the first dimension of an input may be that of its items.
[[nodiscard]] bool goes_over_lists(const Application& application);

}  // namespace sluice::live
