#include "engine/cuda/devices.h"

#include <dlfcn.h>

#include <array>
#include <cstdio>

#include "engine/cuda/driver.h"
#include "engine/cuda/mig.h"

namespace sluice::engine::cuda {
namespace {

std::string text_of(const CUuuid& id) {
  std::string out = "GPU";
  for (std::size_t i = 0; i < sizeof id.bytes; ++i) {
    const bool begins_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    std::array<char, 4> digits{};
    (void)std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned char>(id.bytes[i]));
    out += (begins_group ? "-" : "") + std::string(digits.data());
  }
  return out;
}

Result<Device> described(const Driver& d, int number) {
  Device out;
  CUdevice handle = 0;
  CUuuid id{};
  std::array<char, 128> name{};
  std::size_t bytes = 0;
  Status done = checked(d, d.cuDeviceGet(&handle, number), "cuDeviceGet");
  if (done) done = checked(d, d.cuDeviceGetUuid(&id, handle), "cuDeviceGetUuid");
  if (done) done = checked(d, d.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, handle), "its name");
  if (done) done = checked(d, d.cuDeviceTotalMem(&bytes, handle), "its memory");
  if (done)
    done = checked(d, d.cuDeviceGetAttribute(&out.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, handle),
                   "number of SMs");
  if (!done) return done.error();
  out.uuid = text_of(id);
  out.name = name.data();
  out.memory = bytes;
  return out;
}

bool has_driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) ::dlclose(library);
  return library != nullptr;
}

}  // namespace

Result<std::vector<Device>> devices() {
  std::vector<Device> out;
  if (!has_driver()) return out;
  if (auto parts = mig_devices(); !parts.empty()) return parts;
  const auto found = driver();
  if (!found) return found.error();
  int count = 0;
  const Driver& d = **found;
  if (const Status counted = checked(d, d.cuDeviceGetCount(&count), "cuDeviceGetCount"); !counted)
    return counted.error();
  for (int i = 0; i < count; ++i) {
    auto device = described(d, i);
    if (!device) return device.error();
    out.push_back(std::move(*device));
  }
  return out;
}

}  // namespace sluice::engine::cuda
