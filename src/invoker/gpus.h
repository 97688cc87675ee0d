// The GPUs of a machine, and how its workers share them: a worker for every tenant and GPU, in which a batch has the
// slices that the scheduler booked for it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "domain/gpu_mode.h"

namespace sluice::invoker {

struct GpuDevice {
  std::string uuid;  // as CUDA names it
  std::string name;  // "NVIDIA H200"
  std::uint32_t multiprocessors = 0;
  Bytes memory;
  friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};

struct Gpus {
  std::vector<GpuDevice> devices;  // by their numbers on the invoker; none: it has none, or they are emulated
  GpuMode mode = GpuMode::green;
  std::uint32_t slices = 0;  // of each
  std::string mps;           // the program that starts MPS (mps.h); empty: tenants take turns on a GPU
  // What keeps the compute of a slice to itself: "green contexts, 8 slices of 16 SMs".
  [[nodiscard]] std::string describe() const;
};

// What a worker on this GPU finds in its environment, as NAME=VALUE.
[[nodiscard]] std::vector<std::string> environment_of(const GpuDevice& gpu);

}  // namespace sluice::invoker
