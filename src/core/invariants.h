// The whole state against itself: what must be true after every event.
#pragma once
#include <string>

#include "core/state.h"

namespace sluice::core {

// Empty if all invariants hold, else what is broken. O(state).
[[nodiscard]] std::string broken_invariant(const State& state);

}  // namespace sluice::core
