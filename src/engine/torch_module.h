// How a worker reaches libtorch: in a shared object of its own beside the program, loaded when it is first needed. A
// worker of another runtime starts in 1 ms instead of the 0.5 s that libtorch's 287 libraries take.
#pragma once
#include <memory>

#include "base/result.h"
#include "engine/engine.h"

namespace sluice::engine {

// Whether the object is there, without loading it.
[[nodiscard]] bool has_torch();

// Runs TorchScript on CPUs. All rows go in together, stacked; rows of different shapes go one by one. Inputs are given
// in the order declared, or in which they came; outputs are a tensor, a tuple or list of them, or a dict by names.
// Where inputs lie on multiples of their element's size they are views of shared memory. Caveat: other stages may read
// the same inputs: a module must not write to its own.
[[nodiscard]] Result<std::unique_ptr<Engine>> make_torch_engine();
// The same on a GPU: every number of rows and shape is one CUDA graph where the module allows it.
[[nodiscard]] Result<std::unique_ptr<Engine>> make_torch_cuda_engine();

// Loads the libraries and runs a small model, on one thread.
[[nodiscard]] Status warm_torch();

}  // namespace sluice::engine
