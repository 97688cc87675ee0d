// Joining: a machine joins, for the first time or after a gap in its link. What it says it runs, has loaded and holds
// is compared with what the books say.
#pragma once
#include "core/state.h"

namespace sluice::core {

// One that is delivered twice changes nothing; a new life of the machine ends the one before.
void join(State& state, const InvokerJoined& event);

}  // namespace sluice::core
