#include "engine/torch_module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/text.h"
#include "engine/torch_entry.h"

namespace sluice::engine {
namespace {

// Beside the program that runs.
std::string path() {
  std::array<char, 4096> program{};
  const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size());
  if (length <= 0) return {};
  const std::string name(program.data(), static_cast<std::size_t>(length));
  return name.substr(0, name.rfind('/') + 1) + "sluice-torch.so";
}

// The object is kept until the process ends.
Result<void*> entry(const char* name) {
  void* object = ::dlopen(path().c_str(), RTLD_LAZY | RTLD_LOCAL);
  void* symbol = object != nullptr ? ::dlsym(object, name) : nullptr;
  if (symbol != nullptr) return symbol;
  return Error{ErrorCode::unavailable, str("this worker has no runtime torch: ", ::dlerror())};
}

}  // namespace

bool has_torch() {
  return ::access(path().c_str(), R_OK) == 0;
}

Result<std::unique_ptr<Engine>> make_torch_engine() {
  const auto make = entry("sluice_make_torch_engine");
  if (!make) return make.error();
  return std::unique_ptr<Engine>(reinterpret_cast<decltype(&sluice_make_torch_engine)>(*make)());
}

Result<std::unique_ptr<Engine>> make_torch_cuda_engine() {
  const auto make = entry("sluice_make_torch_cuda_engine");
  if (!make) return Error{make.error().code, str("torch cannot use GPUs here: ", make.error().message)};
  return std::unique_ptr<Engine>(reinterpret_cast<decltype(&sluice_make_torch_cuda_engine)>(*make)());
}

Status warm_torch() {
  const auto warm = entry("sluice_warm_torch");
  if (!warm) return warm.error();
  reinterpret_cast<decltype(&sluice_warm_torch)> (*warm)();
  return Done{};
}

}  // namespace sluice::engine
