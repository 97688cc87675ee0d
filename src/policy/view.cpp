#include "policy/view.h"

#include <algorithm>

#include "policy/slice_positions.h"

namespace sluice::policy {

bool Invoker::some_gpu_fits(std::uint32_t slices, SharedFunctionId function) const {
  return std::any_of(gpus.begin(), gpus.end(), [&](const Gpu& gpu) {
    if (gpu.free_count() < slices || (!warm && gpu.room.of(function) == 0)) return false;
    return layout == SliceLayout::any || free_positions({gpu.slices, gpu.free}, slices, layout).has_value();
  });
}

NodeGroup Invoker::shape() const {
  return {.vcpu = vcpu,
          .memory = memory,
          .gpus = static_cast<std::uint32_t>(gpus.size()),
          .slices_per_gpu = gpus.empty() ? 0 : gpus.front().slices,
          .gpu_memory = gpus.empty() ? Bytes{} : gpus.front().memory,
          .device = device,
          .layout = layout};
}

bool Invoker::holds(const Configuration& c) const {
  return usable && machine_holds(shape(), c);
}

}  // namespace sluice::policy
