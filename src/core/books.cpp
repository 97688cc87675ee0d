#include "core/books.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "domain/limits.h"

namespace sluice::core {
namespace {

std::uint64_t low_bits(std::uint32_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// Where a share of `slices` may start on MIG: 1g anywhere, 2g at 0, 2, 4, 3g at 0 and 4, 4g and 7g at 0.
bool mig_start(std::uint32_t slices, std::uint32_t at) {
  if (slices == 1) return true;
  if (slices == 2) return at % 2 == 0 && at <= 4;
  if (slices == 3) return at == 0 || at == 4;
  return at == 0;
}

}  // namespace

std::optional<std::uint64_t> free_positions(const policy::Gpu& gpu, std::uint32_t slices, SliceLayout layout) {
  if (gpu.free_count() < slices) return std::nullopt;
  if (layout == SliceLayout::any) {  // interchangeable: the lowest free ones
    std::uint64_t free = gpu.free, taken = 0;
    for (std::uint32_t i = 0; i < slices; ++i) {
      taken |= free & (~free + 1);
      free &= free - 1;
    }
    return taken;
  }
  const std::uint32_t width = layout == SliceLayout::buddy ? std::bit_ceil(slices) : 1;
  for (std::uint32_t at = 0; at + slices <= gpu.slices; at += width) {
    const std::uint64_t mask = low_bits(slices) << at;
    if ((gpu.free & mask) == mask && (layout != SliceLayout::mig || mig_start(slices, at))) return mask;
  }
  return std::nullopt;
}

void Books::join(InvokerId id, std::uint64_t epoch, const NodeGroup& capacity) {
  if (id.index() >= invokers_.size()) {
    const std::size_t first = invokers_.size();
    invokers_.resize(id.index() + 1);
    epochs_.resize(id.index() + 1);
    for (std::size_t i = first; i < invokers_.size(); ++i) invokers_[i].id = InvokerId(static_cast<InvokerId::rep>(i));
  }
  policy::Invoker& invoker = invokers_[id.index()];
  invoker = {.id = id,
             .usable = true,
             .vcpu = capacity.vcpu,
             .vcpu_free = capacity.vcpu,
             .layout = capacity.layout,
             .device = capacity.device};
  for (std::uint32_t i = 0; i < capacity.gpus; ++i)
    invoker.gpus.push_back({capacity.slices_per_gpu, low_bits(capacity.slices_per_gpu)});
  epochs_[id.index()] = epoch;
}

void Books::drain(InvokerId id) {
  invokers_[id.index()].usable = false;
}

void Books::lose(InvokerId id) {
  policy::Invoker& invoker = invokers_[id.index()];
  invoker.usable = false;
  invoker.vcpu = invoker.vcpu_free = 0;
  invoker.gpus.clear();
  invoker.running = 0;
}

std::optional<SlicePositions> Books::take(InvokerId id, const Configuration& c) {
  policy::Invoker& invoker = invokers_[id.index()];
  if (!invoker.usable || invoker.vcpu_free < c.vcpu) return std::nullopt;
  SlicePositions positions;
  if (c.slices > 0) {
    // The fullest GPU that can hold it, so that large shares stay possible elsewhere.
    std::optional<std::uint64_t> found;
    std::uint32_t least = ~std::uint32_t{0};
    for (std::size_t g = 0; g < invoker.gpus.size(); ++g) {
      const std::uint32_t free = invoker.gpus[g].free_count();
      if (free >= least) continue;
      if (const auto mask = free_positions(invoker.gpus[g], c.slices, invoker.layout)) {
        found = mask;
        least = free;
        positions.gpu = static_cast<std::uint16_t>(g);
      }
    }
    if (!found) return std::nullopt;
    positions.slices = *found;
    invoker.gpus[positions.gpu].free &= ~*found;
  }
  invoker.vcpu_free -= c.vcpu;
  ++invoker.running;
  return positions;
}

void Books::give_back(InvokerId id, const Configuration& c, const SlicePositions& positions) {
  policy::Invoker& invoker = invokers_[id.index()];
  CHECK(invoker.running > 0 && invoker.vcpu_free + c.vcpu <= invoker.vcpu);
  invoker.vcpu_free += c.vcpu;
  --invoker.running;
  if (positions.slices == 0) return;
  policy::Gpu& gpu = invoker.gpus[positions.gpu];
  CHECK((gpu.free & positions.slices) == 0);
  gpu.free |= positions.slices;
}

void Books::visit(Archive& archive) {
  std::size_t count = invokers_.size();
  archive(count);
  if (archive.is_loading()) invokers_.assign(std::min<std::size_t>(count, limits::invokers_max), {});
  for (policy::Invoker& i : invokers_)
    archive(i.id, i.usable, i.vcpu, i.vcpu_free, i.gpus, i.layout, i.device, i.running);
  archive(epochs_);
}

}  // namespace sluice::core
