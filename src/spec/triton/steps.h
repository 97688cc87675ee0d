// The steps of an ensemble as they are written, before anyone asks where their tensors come from (dataflow.h).
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "spec/draft.h"
#include "spec/triton/fields.h"

namespace sluice::spec::triton {

struct Step {
  Name model;                                 // empty if it is missing, which is reported
  std::vector<std::pair<Name, Name>> inputs;  // the model's name, the ensemble's name
  std::vector<std::pair<Name, Name>> outputs;
  Mark mark;
  std::string path;  // "ensemble_scheduling.step[1]"
};

// Reads `ensemble_scheduling` of `message`. A step with faults, which are reported, is kept as far as it can be read,
// so that what it makes is not reported as missing, too.
[[nodiscard]] std::vector<Step> read_steps(Message& message, ApplicationDraft& draft);

}  // namespace sluice::spec::triton
