// What may go wrong with an application that can be deployed: a stage that reads what another leaves, and runs also
// where that one was skipped, fails then. Whoever wrote it may know that it never happens, so it is only told.
#pragma once
#include <vector>

#include "domain/application.h"
#include "domain/validate.h"

namespace sluice {

// In document order. REQUIRES: validate() found nothing.
[[nodiscard]] std::vector<Problem> doubts(const Application& application);

}  // namespace sluice
