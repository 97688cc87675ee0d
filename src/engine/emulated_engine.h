// An engine that computes nothing: it takes as long as the batch says and leaves zeros of the declared outputs. For
// trying out workflows, schedulers and the platform without models.
#pragma once
#include <memory>

#include "engine/engine.h"

namespace sluice::engine {

// Outputs have a row for every row of the batch, and 1 where the declared length is -1. Where nothing is declared,
// outputs are copies of the inputs.
[[nodiscard]] std::unique_ptr<Engine> make_emulated_engine();

}  // namespace sluice::engine
