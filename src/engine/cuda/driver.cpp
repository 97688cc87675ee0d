#include "engine/cuda/driver.h"

#include <dlfcn.h>

#include "base/text.h"

namespace sluice::engine::cuda {
namespace {

Result<Driver> load() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return Error{ErrorCode::unavailable, str("there is no CUDA driver: ", ::dlerror())};
  // By this one, since a function has several versions and the driver knows which belongs to the headers used here.
  const auto find = reinterpret_cast<decltype(&::cuGetProcAddress)>(::dlsym(library, "cuGetProcAddress_v2"));
  if (find == nullptr) return Error{ErrorCode::unavailable, "the CUDA driver is older than 12.0"};
  Driver out;
  const char* missing = nullptr;
#define SLUICE_CUDA_FIND(name)                                                                      \
  {                                                                                                 \
    void* symbol = nullptr;                                                                         \
    CUdriverProcAddressQueryResult found{};                                                         \
    const CUresult asked = find(#name, &symbol, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &found); \
    if (asked != CUDA_SUCCESS || symbol == nullptr) missing = #name;                                \
    out.name = reinterpret_cast<decltype(out.name)>(symbol);                                        \
  }
  SLUICE_CUDA_FUNCTIONS(SLUICE_CUDA_FIND)
#undef SLUICE_CUDA_FIND
  if (missing != nullptr) {
    return Error{ErrorCode::unavailable, str("the CUDA driver has no ", missing, ": a newer one is needed")};
  }
  if (const CUresult begun = out.cuInit(0); begun != CUDA_SUCCESS) {
    return Error{ErrorCode::unavailable,
                 str("the CUDA driver cannot be used: ", checked(out, begun, "cuInit").error().message)};
  }
  return out;
}

}  // namespace

Result<const Driver*> driver() {
  static const Result<Driver> kLoaded = load();
  if (!kLoaded) return kLoaded.error();
  return &*kLoaded;
}

Status checked(const Driver& driver, CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return Done{};
  const char* name = nullptr;
  (void)driver.cuGetErrorName(result, &name);
  const ErrorCode code = result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorCode::too_large : ErrorCode::internal;
  return Error{code,
               str(what, ": ", name != nullptr ? std::string_view(name) : str("error ", static_cast<int>(result)))};
}

}  // namespace sluice::engine::cuda
