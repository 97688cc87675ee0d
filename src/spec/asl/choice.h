// The rules of Choice states, as they are written.
#pragma once
#include "spec/asl/fields.h"

namespace sluice::spec::asl {

// "Choices" and "Default". References stay paths.
void read_choices(const Part& part, State& state);

}  // namespace sluice::spec::asl
