#include "policy/view.h"

namespace sluice::policy {

std::size_t Invoker::gpu_for(std::uint32_t slices_wanted, SharedFunctionId function) const {
  std::size_t best = gpus.size();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::uint32_t free = gpus[i].free_count();
    if (free < slices_wanted || (best < gpus.size() && free >= gpus[best].free_count())) continue;
    if (warm || gpus[i].room.of(function) > 0) best = i;
  }
  return best;
}

}  // namespace sluice::policy
