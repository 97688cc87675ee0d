// Rooms: what is free for a queue on every invoker, added up once per decision, for schedulers that compare all of
// them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "policy/view.h"

namespace sluice::policy {

struct Room {
  std::uint32_t invoker = 0;
  std::uint32_t vcpu = 0, slices = 0;  // free; slices of all GPUs
  std::uint32_t gpu_slices = 0;        // free on the GPU that has most
  [[nodiscard]] bool fits(const Configuration& c) const { return vcpu >= c.vcpu && gpu_slices >= c.slices; }
};

// The usable invokers by id; of several with equal room only the first, since schedulers that score rooms would take
// it. With a layout of slices equal numbers are no equal room.
inline void find_rooms(const View& view, const Queue& queue, std::vector<Room>& out) {
  out.clear();
  for (const Invoker& invoker : view.invokers) {
    if (!invoker.usable) continue;
    Room room{.invoker = invoker.id.value(), .vcpu = invoker.vcpu_free};
    bool loaded = invoker.warm || invoker.room.of(queue.shared) > 0;
    for (const Gpu& gpu : invoker.gpus) {
      if (!invoker.warm && gpu.room.of(queue.shared) == 0) continue;
      loaded = true;
      room.slices += gpu.free_count();
      room.gpu_slices = std::max(room.gpu_slices, gpu.free_count());
    }
    if (!loaded) continue;
    const auto equal = [&](const Room& r) {
      return r.vcpu == room.vcpu && r.slices == room.slices && r.gpu_slices == room.gpu_slices;
    };
    if (invoker.layout != SliceLayout::any || std::none_of(out.begin(), out.end(), equal)) out.push_back(room);
  }
}

// Whether an invoker would have room for `c` if nothing ran there: otherwise nobody waits for it.
[[nodiscard]] inline bool some_invoker_holds(const View& view, const Configuration& c) {
  return std::any_of(view.invokers.begin(), view.invokers.end(), [&](const Invoker& invoker) {
    return invoker.usable && invoker.vcpu >= c.vcpu &&
           (c.slices == 0 || std::any_of(invoker.gpus.begin(), invoker.gpus.end(),
                                         [&](const Gpu& gpu) { return gpu.slices >= c.slices; }));
  });
}

}  // namespace sluice::policy
