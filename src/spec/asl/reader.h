// Reads machines: their states, and how each goes on. Names of states are looked up later (check.h).
#pragma once
#include "spec/asl/fields.h"

namespace sluice::spec::asl {

// "StartAt" and "States" of a document, a branch or the body of a Map; the caller reads the other fields.
[[nodiscard]] Machine read_machine(const Part& part, Import& import);

}  // namespace sluice::spec::asl
