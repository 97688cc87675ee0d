#include "invoker/gpus.h"

#include "base/text.h"

namespace sluice::invoker {

std::string Gpus::describe() const {
  if (devices.empty()) return "emulated";
  const std::string tenants = mps.empty() ? "tenants take turns" : "tenants at the same time (MPS)";
  const std::uint32_t sms = devices.front().multiprocessors;
  switch (mode) {
    case GpuMode::green:
      return str("green contexts, ", slices, " slices of ", sms / slices, " SMs; ", tenants);
    case GpuMode::stream:
      return str("not enforced: ", slices, " streams share all SMs; ", tenants);
    case GpuMode::priority:
      return str("not enforced: ", slices, " streams share all SMs, those of fewer slices first; ", tenants);
    case GpuMode::none:
      return str("not enforced: a process for each function, ",
                 mps.empty() ? "the driver shares time among them" : "all at the same time (MPS)");
    case GpuMode::mig:
      return str("MIG (untested), devices of ", sms, " SMs; ", tenants);
  }
  return "";
}

// The worker sees one GPU, as its first. Slices that share nothing wait for each other where there are more streams
// than connections to the device: 8 by default, and every position has two.
std::vector<std::string> environment_of(const GpuDevice& gpu) {
  return {str("CUDA_VISIBLE_DEVICES=", gpu.uuid), "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_DEVICE_MAX_CONNECTIONS=32"};
}

}  // namespace sluice::invoker
