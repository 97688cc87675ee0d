// Books: which vCPUs and slices of which invoker are taken. The one place that gives and takes them; a booking that
// does not fit is a bug of the caller.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/commands.h"
#include "domain/events.h"
#include "policy/view.h"

namespace sluice::core {

class Books {
 public:
  void join(InvokerId id, std::uint64_t epoch, const NodeGroup& capacity);
  void drain(InvokerId id);
  void lose(InvokerId id);
  [[nodiscard]] std::span<const policy::Invoker> invokers() const { return invokers_; }
  [[nodiscard]] std::uint64_t epoch(InvokerId id) const { return epochs_[id.index()]; }
  [[nodiscard]] bool knows(InvokerId id) const { return id.valid() && id.index() < invokers_.size(); }

  // Takes what the configuration needs; nothing if it does not fit.
  [[nodiscard]] std::optional<SlicePositions> take(InvokerId id, const Configuration& configuration);
  void give_back(InvokerId id, const Configuration& configuration, const SlicePositions& positions);

  void visit(Archive& archive);

 private:
  std::vector<policy::Invoker> invokers_;  // InvokerId is the position
  std::vector<std::uint64_t> epochs_;
};

// The positions for `slices` of a GPU: the lowest free ones, where the layout lets them start; nothing if there are
// none.
[[nodiscard]] std::optional<std::uint64_t> free_positions(const policy::Gpu& gpu, std::uint32_t slices,
                                                          SliceLayout layout);

}  // namespace sluice::core
