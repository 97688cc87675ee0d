// Where ESG runs a batch: a first stage at its home invoker, a later one where its inputs are, then everything in probe
// order. Used by `esg` and by the schedulers that ESG's evaluation places alike.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "policy/home.h"
#include "policy/policy.h"

namespace sluice::policy {

class EsgPlacement {
 public:
  // Works out the order for the queue's oldest invocation; offers are for this queue from then on.
  void look_at(const View& view, const Queue& queue) {
    near_ = queue.entry ? InvokerId::none() : queue.waiting.front().inputs_at;
    const auto n = static_cast<std::uint32_t>(view.invokers.size());
    if (n == 0) return;
    if (homes_.size() <= queue.id.index()) homes_.resize(queue.id.index() + 1);
    auto& home = homes_[queue.id.index()];
    if (home && home->invokers() == n) return;
    const auto& application = *view.application(queue.application).application;
    home.emplace(application.tenant, application.function(queue.function).name, n);
  }

  void forget(const Queue& queue) {
    if (queue.id.index() < homes_.size()) homes_[queue.id.index()].reset();
  }

  // Adds the first invoker with room for `c`, if any has, to the ranked proposals.
  void offer(const View& view, const Queue& queue, const Configuration& c, Proposals& out) const {
    const auto found = first(view, queue, c);
    if (!found) return;
    const auto members = static_cast<std::uint32_t>(std::min<std::size_t>(c.batch, queue.waiting.size()));
    out.ranked.push_back({.configuration = c, .invoker = InvokerId(*found), .members = members});
  }

 private:
  [[nodiscard]] std::optional<std::uint32_t> first(const View& view, const Queue& queue, const Configuration& c) const {
    if (near_.valid() && view.fits(queue, c, near_.value())) return near_.value();
    for (std::uint32_t i = 0; i < view.invokers.size(); ++i) {
      const std::uint32_t at = (*homes_[queue.id.index()])[i];
      if (view.fits(queue, c, at)) return at;
    }
    return std::nullopt;
  }

  InvokerId near_;
  std::vector<std::optional<HomeOrder>> homes_;  // by queue; derived: finding a step takes long
};

}  // namespace sluice::policy
