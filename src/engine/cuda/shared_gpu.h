// SharedGpu: the GPU of a worker, as all of its functions use it. There is one in a process.
#pragma once
#include <cuda.h>

#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/cuda/allowance.h"
#include "engine/cuda/driver.h"
#include "engine/cuda/quiet.h"
#include "engine/cuda/slices.h"
#include "engine/engine.h"

namespace sluice::engine::cuda {

struct SharedGpu {
  explicit SharedGpu(const Driver& found) : driver(found) {}

  const Driver& driver;
  CUdevice handle = 0;
  int number = 0;  // among those that the process sees
  std::unique_ptr<Slices> slices;
  Bytes memory;  // all of it
  Allowance allowance;
  std::optional<KeptBudget> kept;  // set when it is opened
  CUstream fetches = nullptr;      // for what is kept: copies to the machine that nothing else waits for
  // Held alone while a graph is captured and when a function goes, shared by whatever else allocates: what other
  // threads did meanwhile would become part of the capture, or break it. Replays need no lock.
  Quiet quiet;

  // The calling thread uses the whole GPU from now on. For threads that load.
  [[nodiscard]] Status enter() const {
    return checked(driver, driver.cuCtxSetCurrent(slices->primary()), "cuCtxSetCurrent");
  }
};

// After an error of CUDA: some, like a kernel that reads where it must not, are of the whole process and for good. Then
// it ends, and what it ran is tried again elsewhere or in the next one. Waits for what is on the stream.
void end_if_broken(const SharedGpu& gpu, CUstream stream);

// An error for a second GPU: a worker has one. Opened by the first function that is loaded to it, and never closed:
// threads use it to their last.
[[nodiscard]] Result<SharedGpu*> shared_gpu(const Gpu& gpu);

}  // namespace sluice::engine::cuda
