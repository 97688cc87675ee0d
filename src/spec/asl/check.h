// Checks the ways between states: every name is a state's, every state is reached, nothing leads back.
#pragma once
#include "spec/asl/machine.h"

namespace sluice::spec::asl {

// Sets every Target::state and Machine::order, here and in the machines inside. False, with an error each, if the ways
// cannot be followed; states that could not be read are not reported again.
[[nodiscard]] bool check(Machine& machine, Import& import);

// The states that may come next without an error, each once, ascending. REQUIRES: check() was true.
[[nodiscard]] std::vector<std::size_t> successors(const State& state);

}  // namespace sluice::spec::asl
