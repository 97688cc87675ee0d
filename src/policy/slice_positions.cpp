#include "policy/slice_positions.h"

#include <bit>

namespace sluice::policy {
namespace {

// Where a share of `slices` may start on MIG: 1g anywhere, 2g at 0, 2, 4, 3g at 0 and 4, 4g and 7g at 0.
bool mig_start(std::uint32_t slices, std::uint32_t at) {
  if (slices == 1) return true;
  if (slices == 2) return at % 2 == 0 && at <= 4;
  if (slices == 3) return at == 0 || at == 4;
  return at == 0;
}

}  // namespace

bool machine_holds(const NodeGroup& machine, const Configuration& c) {
  if (machine.vcpu < c.vcpu) return false;
  if (c.slices == 0) return true;
  if (machine.gpus == 0 || (c.device != machine.device && c.device != DeviceKind::gpu())) return false;
  const FreeSlices empty{machine.slices_per_gpu, all_slices(machine.slices_per_gpu)};
  return free_positions(empty, c.slices, machine.layout).has_value();
}

std::optional<std::uint64_t> free_positions(const FreeSlices& gpu, std::uint32_t wanted, SliceLayout layout) {
  if (static_cast<std::uint32_t>(std::popcount(gpu.free)) < wanted) return std::nullopt;
  if (layout == SliceLayout::any) {  // interchangeable: the lowest free ones
    std::uint64_t free = gpu.free, taken = 0;
    for (std::uint32_t i = 0; i < wanted; ++i) {
      taken |= free & (~free + 1);
      free &= free - 1;
    }
    return taken;
  }
  const std::uint32_t width = layout == SliceLayout::buddy ? std::bit_ceil(wanted) : 1;
  const std::uint64_t share = all_slices(wanted);
  for (std::uint32_t at = 0; at + wanted <= gpu.slices; at += width) {
    const std::uint64_t mask = share << at;
    if ((gpu.free & mask) == mask && (layout != SliceLayout::mig || mig_start(wanted, at))) return mask;
  }
  return std::nullopt;
}

}  // namespace sluice::policy
