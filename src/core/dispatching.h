// Dispatching: the policy is asked queue by queue what to start where, until it has nothing more to propose.
#pragma once
#include "core/state.h"

namespace sluice::core {

void dispatch(State& state, Commands& out);

}  // namespace sluice::core
