// The MIG devices of the machine, as NVML describes them: the driver itself shows a process one of them at most.
// Untested: no machine with MIG devices was to be had. Sluice never makes, changes or removes any.
#pragma once
#include <vector>

#include "engine/cuda/devices.h"

namespace sluice::engine::cuda {

// What nvmlDeviceGetAttributes_v2 fills, as far as it is read here; tests/gpu compares it with NVIDIA's header.
struct NvmlAttributes {
  unsigned int multiprocessors = 0;
  unsigned int copy_engines = 0, decoders = 0, encoders = 0, jpeg = 0, ofa = 0;
  unsigned int gpu_slices = 0, compute_slices = 0;
  unsigned long long memory_mb = 0;
};

// Those that CUDA_VISIBLE_DEVICES names, where it is set. None: there is no NVML, or no GPU is parted.
[[nodiscard]] std::vector<Device> mig_devices();

}  // namespace sluice::engine::cuda
