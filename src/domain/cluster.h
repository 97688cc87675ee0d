// Cluster: the machines, as plain data.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/time.h"
#include "domain/configuration.h"

namespace sluice {

enum class SliceLayout {
  any,    // slices of a GPU are interchangeable
  mig,    // the start slots of MIG: 1g 0-6, 2g 0/2/4, 3g 0/4, 4g 0, 7g whole
  buddy,  // a share of n slices starts at a multiple of n rounded up to a power of two
};
constexpr SliceLayout last_of(SliceLayout) {
  return SliceLayout::buddy;
}

// `count` equal machines.
struct NodeGroup {
  std::uint32_t count = 1;
  std::uint32_t vcpu = 1;
  Bytes memory = Bytes::gb(64);
  std::uint32_t gpus = 0;
  std::uint32_t slices_per_gpu = 7;  // 0: `auto`, the invoker reports it
  Bytes gpu_memory = Bytes::gb(40);
  DeviceKind device = DeviceKind::gpu();
  SliceLayout layout = SliceLayout::any;
  Duration ahead = {};  // how long before the expected end of a batch on a GPU the next one for its slices is sent
  friend bool operator==(const NodeGroup&, const NodeGroup&) = default;
  void visit(auto& archive) { archive(count, vcpu, memory, gpus, slices_per_gpu, gpu_memory, device, layout, ahead); }
};

struct Cluster {
  std::string name;
  std::vector<NodeGroup> nodes;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

}  // namespace sluice
