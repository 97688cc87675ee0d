// A model as Triton's ModelConfig, in the JSON form of that message: clients read it with the message's own parser, so
// names and types of fields are the message's, and of its scheduling choices there is exactly one.
#pragma once
#include <string>

#include "live/snapshot.h"

namespace sluice::gateway {

// An application is an ensemble whose steps run its functions; a function is batched dynamically.
// Caveat: conditions, fan-outs and stages that run nothing have no form there. Steps inside of a `foreach` are listed
// with those around it, and a tensor of a stage that only passes its inputs on is made by no step.
[[nodiscard]] std::string model_config(const live::Model& model);

}  // namespace sluice::gateway
