// The canonical order of an application, so that documents that say the same give equal values, whatever their format.
#pragma once
#include "domain/application.h"

namespace sluice::spec {

// Stages in topological order, equals by name; `after`, catches and outputs sorted; functions nobody runs dropped and
// the rest sorted by name. REQUIRES: validate(application) is empty.
void make_canonical(Application& application);

}  // namespace sluice::spec
