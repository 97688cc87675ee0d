#include "base/text.h"
#include "engine/emulated_engine.h"
#include "engine/engine.h"
#include "engine/engines.h"
#include "engine/process_engine.h"
#include "engine/torch_module.h"

namespace sluice::engine {

std::vector<Runtime> runtimes() {
  std::vector<Runtime> runtimes;
  if (has_torch()) runtimes.push_back(Runtime::torch);
  runtimes.insert(runtimes.end(), {Runtime::process, Runtime::emulated});
  return runtimes;
}

Status warm() {
  return has_torch() ? warm_torch() : Done{};
}

Result<std::unique_ptr<Engine>> make_engine(Runtime runtime, Device device) {
  if (device == Device::gpu) {
    if (runtime == Runtime::torch) return make_torch_cuda_engine();
    if (runtime == Runtime::emulated) return make_emulated_engine();
    return Error{ErrorCode::unavailable, str("functions of runtime ", name_of(runtime), " run on CPUs only")};
  }
  switch (runtime) {
    case Runtime::torch:
      return make_torch_engine();
    case Runtime::process:
      return make_process_engine();
    case Runtime::emulated:
      return make_emulated_engine();
    case Runtime::python:
      return Error{ErrorCode::unavailable, "a function of runtime python runs in an interpreter of its own"};
    case Runtime::kernel:
      break;
  }
  return Error{ErrorCode::unavailable, str("this worker has no runtime ", name_of(runtime))};
}

}  // namespace sluice::engine
