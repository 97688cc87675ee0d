// The fields of each type of state.
#pragma once
#include "spec/asl/fields.h"

namespace sluice::spec::asl {

// Everything that depends on `state.type` except how the state goes on.
void read_by_type(const Part& part, State& state, Import& import);

}  // namespace sluice::spec::asl
