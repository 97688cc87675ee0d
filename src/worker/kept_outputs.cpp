#include "worker/kept_outputs.h"

#include <iterator>
#include <utility>

namespace sluice::worker {

bool KeptOutputs::add(const wire::Space& place, Output output) {
  const std::lock_guard lock(mutex_);
  const auto after = kept_.lower_bound(place.offset);
  if (after != kept_.end() && after->first - place.offset < place.size) return false;
  if (after != kept_.begin()) {
    const auto& [offset, before] = *std::prev(after);
    if (place.offset - offset < before.size) return false;
  }
  kept_.emplace_hint(after, place.offset, Kept{place.size, std::move(output)});
  return true;
}

KeptOutputs::Part KeptOutputs::holding(const wire::Space& place) const {
  const std::lock_guard lock(mutex_);
  const auto after = kept_.upper_bound(place.offset);
  if (after == kept_.begin()) return {};
  const auto& [offset, kept] = *std::prev(after);
  const std::uint64_t within = place.offset - offset;
  if (within > kept.size || place.size > kept.size - within) return {};
  return {kept.output, static_cast<std::size_t>(within)};
}

KeptOutputs::Kept KeptOutputs::at(std::uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  const auto it = kept_.find(offset);
  return it == kept_.end() ? Kept{} : it->second;
}

KeptOutputs::Output KeptOutputs::take(std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  const auto it = kept_.find(offset);
  if (it == kept_.end()) return nullptr;
  return std::move(kept_.extract(it).mapped().output);
}

}  // namespace sluice::worker
