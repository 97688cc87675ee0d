#include "policy/foresight.h"

#include <algorithm>
#include <limits>

namespace sluice::policy {

void Foresight::expect(RequestId request, InvokerId invoker, std::span<const SliceStep> path) {
  forget(request);
  if (path.empty()) return;
  where_.emplace(request, invoker);
  if (steps_.size() <= invoker.index()) steps_.resize(invoker.index() + 1);
  auto& there = steps_[invoker.index()];
  for (const SliceStep& step : path) {
    const auto after = std::upper_bound(there.begin(), there.end(), step.at,
                                        [](Time at, const Expected& expected) { return at < expected.at; });
    there.insert(after, {step.at, request, step.more});
  }
}

void Foresight::forget(RequestId request) {
  const auto it = where_.find(request);
  if (it == where_.end()) return;
  std::erase_if(steps_[it->second.index()], [&](const Expected& e) { return e.request == request; });
  where_.erase(it);
}

std::int32_t Foresight::least_free(InvokerId invoker, std::int32_t free, Time now,
                                   std::span<const SliceStep> path) const {
  static const std::vector<Expected> kNone;
  const auto& there = invoker.index() < steps_.size() ? steps_[invoker.index()] : kNone;
  const Time end = path.empty() ? now : path.back().at;
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  auto own = path.begin();
  for (const Expected& other : there) {
    if (other.at < now - kLate) continue;
    if (other.at >= end) break;
    for (; own != path.end() && own->at <= other.at; ++own) least = std::min(least, free -= own->more);
    least = std::min(least, free -= other.more);
  }
  // The last step gives back what is left, which is of no use to itself.
  for (; own != path.end() && own->at < end; ++own) least = std::min(least, free -= own->more);
  return least == std::numeric_limits<std::int32_t>::max() ? free : least;
}

}  // namespace sluice::policy
