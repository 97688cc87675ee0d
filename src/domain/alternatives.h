// Alternatives: what a stage with `when: otherwise` is the alternative to.
#pragma once
#include <vector>

#include "domain/workflow.h"

namespace sluice {

[[nodiscard]] bool is_otherwise(const Stage& stage);

// The stages with a condition of their own and the same `after`, ascending: `otherwise` holds if none of theirs does.
// REQUIRES: every `after` is sorted, as reading a document leaves it (spec/canonical.h).
[[nodiscard]] std::vector<StageId> alternatives_of(const Workflow& workflow, const Stage& otherwise);

}  // namespace sluice
