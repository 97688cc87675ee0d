// The CUDA driver, found when it is asked for: no program needs one to start. Functions are called by their own names,
// `cuda.cuStreamCreate(…)`, and answer as the driver does.
#pragma once
#include <cuda.h>

#include <string_view>

#include "base/result.h"

namespace sluice::engine::cuda {

// clang-format off
#define SLUICE_CUDA_FUNCTIONS(X) \
  X(cuInit) X(cuGetErrorName) X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetUuid) \
  X(cuDeviceTotalMem) X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) \
  X(cuDeviceGetDevResource) X(cuDevSmResourceSplitByCount) X(cuDevResourceGenerateDesc) \
  X(cuGreenCtxCreate) X(cuCtxFromGreenCtx) X(cuGreenCtxStreamCreate) \
  X(cuStreamCreateWithPriority) X(cuCtxGetStreamPriorityRange) X(cuStreamSynchronize) \
  X(cuEventCreate) X(cuEventRecord) X(cuEventQuery) X(cuEventElapsedTime) \
  X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemHostRegister) X(cuMemHostAlloc) X(cuMemFreeHost) \
  X(cuMemGetAllocationGranularity) X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) \
  X(cuMemMap) X(cuMemUnmap) X(cuMemSetAccess)
// clang-format on

struct Driver {
#define SLUICE_CUDA_FIELD(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  SLUICE_CUDA_FUNCTIONS(SLUICE_CUDA_FIELD)
#undef SLUICE_CUDA_FIELD
};

// Loaded and initialised once; the same answer ever after. An error says what is missing.
[[nodiscard]] Result<const Driver*> driver();

// "cuStreamCreate: CUDA_ERROR_OUT_OF_MEMORY".
[[nodiscard]] Status checked(const Driver& driver, CUresult result, std::string_view what);

}  // namespace sluice::engine::cuda
