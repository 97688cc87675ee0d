// Slices: a GPU parted into groups of SMs, and a context for every position that a batch may have. A position is a set
// of slices, a bit each, as the scheduler books them; all of them together are the whole GPU. Contexts share the memory
// of the GPU, so that one copy of the weights serves every position. Modes without SMs of their own are here too.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "domain/gpu_mode.h"
#include "engine/cuda/driver.h"

namespace sluice::engine::cuda {

// Where a batch runs. Kept until the process ends.
struct Slice {
  CUcontext context = nullptr;  // what the thread of this position makes current, once
  CUstream stream = nullptr;
};

class Slices {
 public:
  // The position of threads that load: the whole GPU, with a stream of its own.
  static constexpr std::uint64_t kForLoads = 0;

  // `device` among those that the process sees; `count` slices. An error says what the GPU cannot do.
  [[nodiscard]] static Result<std::unique_ptr<Slices>> open(int device, GpuMode mode, std::uint32_t count);
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  // Made on first use, which takes a millisecond. Any thread. An error: no such slices, or the driver has no room.
  [[nodiscard]] Result<const Slice*> at(std::uint64_t slices);
  [[nodiscard]] Result<const Slice*> for_loads() { return at(kForLoads); }
  [[nodiscard]] CUcontext primary() const { return primary_; }

 private:
  Slices(const Driver& driver, CUdevice device, GpuMode mode, std::uint32_t count)
      : driver_(driver), device_(device), mode_(mode), count_(count) {}
  [[nodiscard]] Status part();
  [[nodiscard]] Result<Slice> made(std::uint64_t slices) const;
  [[nodiscard]] int priority_of(std::uint64_t slices) const;
  [[nodiscard]] Result<Slice> made_whole(std::uint64_t slices) const;
  [[nodiscard]] Result<Slice> made_of_groups(std::uint64_t slices) const;

  const Driver& driver_;
  CUdevice device_;
  GpuMode mode_;
  std::uint32_t count_;
  std::uint32_t sms_ = 0;  // of the whole GPU
  CUcontext primary_ = nullptr;
  std::vector<CUdevResource> groups_;  // one a slice; mode green
  std::mutex mutex_;
  std::map<std::uint64_t, Slice> slices_;  // guarded by mutex_; by position
};

}  // namespace sluice::engine::cuda
