// A dispatch for tests: what waits is loaded at one place, whatever else is free, and what is loaded there runs.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "policy/policy.h"

namespace sluice::core {

class LoadsAt final : public policy::Dispatch {
 public:
  explicit LoadsAt(InvokerId machine, std::uint16_t gpu = 0) : machine_(machine), gpu_(gpu) {}
  void begin(const policy::View& view) override { queues_.assign(view.busy_queues.begin(), view.busy_queues.end()); }
  bool next(const policy::View& view, policy::Proposals& out) override {
    if (queues_.empty()) return false;
    const policy::Queue& queue = view.queues[queues_.back()];
    queues_.pop_back();
    out.clear();
    out.queue = queue.id;
    const Configuration c = configuration(1, 1, 1);
    if (view.fits(queue, c, machine_.value())) out.ranked.push_back({.configuration = c, .invoker = machine_});
    if (view.instances_of(queue.shared).empty())
      out.ranked.push_back({.invoker = machine_, .load = Level::device, .gpu = gpu_});
    return true;
  }
  void decided(const policy::View&, const policy::Proposals& proposals, std::optional<std::size_t> booked) override {
    if (booked) {
      EXPECT_EQ(proposals.ranked[*booked].load, Level::none);
    }
  }
  void visit(Archive&) override {}

 private:
  InvokerId machine_;
  std::uint16_t gpu_;
  std::vector<std::uint32_t> queues_;
};

}  // namespace sluice::core
