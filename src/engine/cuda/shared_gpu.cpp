#include "engine/cuda/shared_gpu.h"

#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <optional>
#include <utility>

#include "base/text.h"

namespace sluice::engine::cuda {
namespace {

Status pin(const Driver& driver, std::span<std::byte> memory) {
  if (memory.empty()) return Done{};
  return checked(driver, driver.cuMemHostRegister(memory.data(), memory.size(), CU_MEMHOSTREGISTER_PORTABLE),
                 "registering shared memory");
}

Result<SharedGpu*> opened(const Gpu& gpu) {
  const auto found = driver();
  if (!found) return found.error();
  auto slices = Slices::open(gpu.device, gpu.mode, gpu.slices);
  if (!slices) return slices.error();
  auto out = std::make_unique<SharedGpu>(**found);
  out->number = gpu.device;
  out->slices = std::move(*slices);
  Status done = checked(out->driver, out->driver.cuDeviceGet(&out->handle, gpu.device), "cuDeviceGet");
  std::size_t bytes = 0;
  if (done) done = checked(out->driver, out->driver.cuDeviceTotalMem(&bytes, out->handle), "its memory");
  out->memory = Bytes(static_cast<std::int64_t>(bytes));
  out->kept.emplace(KeptBudget::part_of(out->memory));
  if (done) done = out->enter();
  if (done)
    done = checked(out->driver, out->driver.cuStreamCreateWithPriority(&out->fetches, CU_STREAM_NON_BLOCKING, 0),
                   "cuStreamCreate");
  if (done) done = pin(out->driver, gpu.pinned);
  if (!done) return done.error();
  return out.release();
}

}  // namespace

void end_if_broken(const SharedGpu& gpu, CUstream stream) {
  const Status done = checked(gpu.driver, gpu.driver.cuStreamSynchronize(stream), "the GPU");
  if (done) return;
  std::fprintf(stderr, "%s: the worker ends\n", done.error().message.c_str());
  std::fflush(nullptr);
  ::_exit(1);
}

Result<SharedGpu*> shared_gpu(const Gpu& gpu) {
  static std::mutex mutex;
  static std::optional<std::pair<int, Result<SharedGpu*>>> only;  // guarded by mutex
  const std::lock_guard lock(mutex);
  if (!only) only.emplace(gpu.device, opened(gpu));
  if (only->first == gpu.device) return only->second;
  return Error{ErrorCode::invalid, str("this worker uses GPU ", only->first, ", and has no other")};
}

}  // namespace sluice::engine::cuda
