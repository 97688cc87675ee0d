// Losses: machines and objects that are gone, functions that cannot be loaded, and who has to begin again or is
// answered.
#pragma once
#include "core/state.h"

namespace sluice::core {

// REQUIRES: the invoker is alive in the books.
void lose_invoker(State& state, InvokerId invoker);
void lose_object(State& state, const ObjectLost& event);
// A function that fails to load again and again would keep its requests for ever: those that have waited through as
// many failures as an invocation may have are answered. Who came later has as many attempts ahead.
void fail_load(State& state, const LoadFailed& event);

}  // namespace sluice::core
