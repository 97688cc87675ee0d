// Prewarming: what will be needed is loaded, what nobody needs is given up, and loads go on whose memory has become
// free.
#pragma once
#include "core/state.h"

namespace sluice::core {

// The policy looks at every function and instance, and nobody waits for what it brings (loads for those who wait are
// dispatch's): after a change it is asked within a millisecond, not at every one of many thousand requests a second.
void prewarm(State& state, Commands& out);
// Something has changed: the policy is asked as soon as it may be.
void prewarm_soon(State& state);

}  // namespace sluice::core
