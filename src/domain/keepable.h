// Which stages of an application may leave their outputs on a GPU: those that other stages read there, and nobody else.
#pragma once
#include <vector>

#include "domain/application.h"

namespace sluice {

// By StageId of the application's own workflow; nothing inside of a foreach is kept. A stage may keep if every reader
// of its outputs is a plain stage whose function can run on a GPU: no output of the application, condition, list, pass
// stage or handler. What is kept is lost with its worker, and then the request begins again: none of an application
// that has a stage that must not run twice.
[[nodiscard]] std::vector<bool> keepable_stages(const Application& application);

}  // namespace sluice
