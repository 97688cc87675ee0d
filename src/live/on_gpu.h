// What is said of GPUs that are really there: how they are used, and how functions run on them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/time.h"
#include "domain/gpu_form.h"

namespace sluice::live {

// Since the start of the server.
struct GpuUse {
  std::vector<Duration> busy;  // by slice: as long as the device took for batches on it
  std::uint64_t batches = 0, captures = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;  // copied to the device and back, for batches
  std::uint64_t loads = 0;                    // weights that came to the device, or back to it
  std::uint64_t kept = 0, fetches = 0;        // outputs that stayed on the device, and those that were fetched later
  std::uint64_t kept_bytes = 0;               // on the device now
};

// A function that is loaded on a GPU.
struct OnGpu {
  std::uint16_t gpu = 0;
  GpuForm form;
  Bytes weights;
  std::uint32_t graphs = 0;       // that were recorded of it
  bool kernel_by_kernel = false;  // it cannot be recorded; that its rows must not be batched is in its form
};

}  // namespace sluice::live
