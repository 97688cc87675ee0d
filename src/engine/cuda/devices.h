// The GPUs that this process sees, as the driver describes them. For `sluice-worker --gpus`: a server asks that program
// and never loads the driver itself, which would be inherited by whatever it starts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice::engine::cuda {

struct Device {
  std::string uuid;  // "GPU-…" or "MIG-…", by which CUDA_VISIBLE_DEVICES names it
  std::string name;
  int multiprocessors = 0;
  std::uint64_t memory = 0;  // bytes
};

// MIG devices in place of the GPUs where there are any. None: there is no driver, or no GPU. An error: there is a
// driver and it cannot be used.
[[nodiscard]] Result<std::vector<Device>> devices();

}  // namespace sluice::engine::cuda
