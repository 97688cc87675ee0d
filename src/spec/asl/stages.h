// The last step of an import: states become stages, ways become `after`, `when` and `catches`.
#pragma once
#include "spec/asl/machine.h"

namespace sluice::spec::asl {

// The stages of a machine with those of its branches, in document order; stages that only carry a condition come last.
// Takes the drafts out of `machine`. REQUIRES: check(machine) was true and follow_data(machine) was called.
[[nodiscard]] WorkflowDraft make_stages(Machine& machine, Import& import);

}  // namespace sluice::spec::asl
