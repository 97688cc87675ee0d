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
  TenantRoom allowed;                  // to the queue's tenant
  bool host = false;                   // what needs no slices can run
  const Invoker* there = nullptr;
  SharedFunctionId function;
  [[nodiscard]] bool fits(const Configuration& c) const {
    if (vcpu < c.vcpu || gpu_slices < c.slices || !allowed.covers(c)) return false;
    if (c.slices == 0) return host;
    return there->layout == SliceLayout::any ? there->has_device(c.device) : there->fits(c, function);
  }
};

// The usable invokers by id; of several with equal room only the first, since schedulers that score rooms would take
// it. With a layout of slices equal numbers are no equal room.
inline void find_rooms(const View& view, const Queue& queue, std::vector<Room>& out) {
  out.clear();
  const TenantRoom allowed =
      view.tenants.empty() ? TenantRoom{} : view.tenants[view.application(queue.application).tenant];
  for (const Invoker& invoker : view.invokers) {
    if (!invoker.usable) continue;
    Room room{.invoker = invoker.id.value(),
              .vcpu = invoker.vcpu_free,
              .allowed = allowed,
              .there = &invoker,
              .function = queue.shared};
    room.host = invoker.warm || invoker.room.of(queue.shared) > 0;
    bool loaded = room.host;
    for (const Gpu& gpu : invoker.gpus) {
      if (!invoker.warm && gpu.room.of(queue.shared) == 0) continue;
      loaded = true;
      room.slices += gpu.free_count();
      room.gpu_slices = std::max(room.gpu_slices, gpu.free_count());
    }
    if (!loaded) continue;
    const auto equal = [&](const Room& r) {
      return r.vcpu == room.vcpu && r.slices == room.slices && r.gpu_slices == room.gpu_slices && r.host == room.host &&
             r.there->device == invoker.device;
    };
    if (invoker.layout != SliceLayout::any || std::none_of(out.begin(), out.end(), equal)) out.push_back(room);
  }
}

}  // namespace sluice::policy
