// What `sluice-torch.so` has to offer. Program and object are of one build and share the classes of engine.h.
#pragma once
#include "engine/engine.h"

extern "C" {
sluice::engine::Engine* sluice_make_torch_engine();       // the caller deletes it
sluice::engine::Engine* sluice_make_torch_cuda_engine();  // likewise; there where libtorch has CUDA
void sluice_warm_torch();
}
