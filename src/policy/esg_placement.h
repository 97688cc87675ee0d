// Where ESG runs a batch: a first stage at its home invoker, a later one where its inputs are, then everything in probe
// order. Used by `esg` and by the schedulers that ESG's evaluation places alike.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "policy/home.h"
#include "policy/policy.h"

namespace sluice::policy {

class EsgPlacement {
 public:
  // Works out the order for the queue's oldest invocation; offers are for this queue from then on.
  void look_at(const View& view, const Queue& queue) {
    const auto& application = *view.application(queue.application).application;
    const auto n = static_cast<std::uint32_t>(view.invokers.size());
    order_.clear();
    if (n == 0) return;
    const HomeOrder home(application.tenant, application.function(queue.function).name, n);
    const InvokerId near = queue.waiting.front().inputs_at;
    if (!queue.entry && near.valid()) order_.push_back(near.value());
    for (std::uint32_t i = 0; i < n; ++i) order_.push_back(home[i]);
  }

  // Adds the first invoker with room for `c`, if any has, to the ranked proposals.
  void offer(const View& view, const Queue& queue, const Configuration& c, Proposals& out) const {
    const auto room = [&](std::uint32_t invoker) { return view.fits(queue, c, invoker); };
    const auto found = std::find_if(order_.begin(), order_.end(), room);
    if (found == order_.end()) return;
    const auto members = static_cast<std::uint32_t>(std::min<std::size_t>(c.batch, queue.waiting.size()));
    out.ranked.push_back({.configuration = c, .invoker = InvokerId(*found), .members = members});
  }

 private:
  std::vector<std::uint32_t> order_;
};

}  // namespace sluice::policy
