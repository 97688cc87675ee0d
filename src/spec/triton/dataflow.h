// How the tensors of an ensemble flow: who makes each, who reads it, and so which stage comes after which. Used by
// triton.cpp.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "spec/draft.h"
#include "spec/triton/fields.h"
#include "spec/triton/steps.h"

namespace sluice::spec::triton {

struct Ensemble {
  std::vector<Tensor> inputs, outputs;
  std::vector<Step> steps;
};

struct Flow {
  std::vector<StageDraft> stages;              // one a step, in document order
  std::vector<std::pair<Name, Name>> outputs;  // name, "STAGE.output"
};

// Errors: a tensor made twice, read but never made, an output never made. Warnings: an input or a step nobody uses.
[[nodiscard]] Flow connect(const Ensemble& ensemble, const std::string& file, Diagnostics& out);

}  // namespace sluice::spec::triton
