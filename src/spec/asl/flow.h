// Follows the document through a machine, state by state, and turns every path in it into a reference.
#pragma once
#include "spec/asl/machine.h"

namespace sluice::spec::asl {

// Resolves the paths in all drafts, here and in the machines inside; those that name nothing are reported.
// REQUIRES: check(machine) was true.
void follow_data(Machine& machine, Import& import);

}  // namespace sluice::spec::asl
