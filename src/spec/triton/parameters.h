// What Triton has no field for stands in an ensemble's `parameters`: the objective and the tenant. Used by triton.cpp.
#pragma once
#include "spec/draft.h"
#include "spec/triton/fields.h"

namespace sluice::spec::triton {

// Reads `parameters` of `message`, the fields of `root`, into the draft; a missing objective is an error.
void apply_parameters(Message& message, const Cursor& root, ApplicationDraft& draft);

}  // namespace sluice::spec::triton
