#include "engine/cuda/mig.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::engine::cuda {
namespace {

using Handle = void*;
constexpr int kDone = 0;               // NVML_SUCCESS
constexpr unsigned int kEnabled = 1;   // NVML_DEVICE_MIG_ENABLE
constexpr unsigned int kTextMax = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE, NVML_DEVICE_UUID_V2_BUFFER_SIZE

// NVML's functions by their own names. It is found when it is asked for, like the driver.
class Nvml {
 public:
  Nvml() : library_(::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL)) {
    const bool found = find("nvmlInit_v2", init) && find("nvmlShutdown", shutdown) &&
                       find("nvmlDeviceGetCount_v2", count) && find("nvmlDeviceGetHandleByIndex_v2", device) &&
                       find("nvmlDeviceGetMigMode", mig_mode) && find("nvmlDeviceGetMaxMigDeviceCount", mig_count) &&
                       find("nvmlDeviceGetMigDeviceHandleByIndex", mig_device) && find("nvmlDeviceGetUUID", uuid) &&
                       find("nvmlDeviceGetName", name) && find("nvmlDeviceGetAttributes_v2", attributes);
    usable_ = found && init() == kDone;
  }
  ~Nvml() {
    if (usable_) shutdown();
    if (library_ != nullptr) ::dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  [[nodiscard]] bool usable() const { return usable_; }

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned int*) = nullptr;
  int (*device)(unsigned int, Handle*) = nullptr;
  int (*mig_mode)(Handle, unsigned int*, unsigned int*) = nullptr;
  int (*mig_count)(Handle, unsigned int*) = nullptr;
  int (*mig_device)(Handle, unsigned int, Handle*) = nullptr;
  int (*uuid)(Handle, char*, unsigned int) = nullptr;
  int (*name)(Handle, char*, unsigned int) = nullptr;
  int (*attributes)(Handle, NvmlAttributes*) = nullptr;

 private:
  template <class Pointer>
  bool find(const char* called, Pointer& out) const {
    if (library_ != nullptr) out = reinterpret_cast<Pointer>(::dlsym(library_, called));
    return out != nullptr;
  }
  void* library_;
  bool usable_ = false;
};

std::optional<Device> described(const Nvml& nvml, Handle handle) {
  std::array<char, kTextMax> uuid{}, name{};
  NvmlAttributes about;
  if (nvml.uuid(handle, uuid.data(), kTextMax) != kDone || nvml.name(handle, name.data(), kTextMax) != kDone ||
      nvml.attributes(handle, &about) != kDone)
    return std::nullopt;
  return Device{.uuid = uuid.data(),
                .name = name.data(),
                .multiprocessors = static_cast<int>(about.multiprocessors),
                .memory = static_cast<std::uint64_t>(about.memory_mb) << 20};
}

// Like the driver: where somebody says which devices are to be seen, the others are not.
bool is_visible(const std::string& uuid) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr || std::string_view(visible).find(uuid) != std::string_view::npos;
}

}  // namespace

std::vector<Device> mig_devices() {
  std::vector<Device> out;
  const Nvml nvml;
  unsigned int gpus = 0;
  if (!nvml.usable() || nvml.count(&gpus) != kDone) return out;
  for (unsigned int i = 0; i < gpus; ++i) {
    Handle gpu = nullptr;
    unsigned int now = 0, pending = 0, most = 0;
    if (nvml.device(i, &gpu) != kDone || nvml.mig_mode(gpu, &now, &pending) != kDone || now != kEnabled ||
        nvml.mig_count(gpu, &most) != kDone)
      continue;
    for (unsigned int k = 0; k < most; ++k) {
      Handle part = nullptr;
      if (nvml.mig_device(gpu, k, &part) != kDone) continue;  // positions between instances are empty
      if (auto device = described(nvml, part); device && is_visible(device->uuid)) out.push_back(std::move(*device));
    }
  }
  return out;
}

}  // namespace sluice::engine::cuda
