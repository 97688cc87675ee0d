#include "core/outputs.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sluice::core {

void Outputs::add(InvokerId invoker, Bytes bytes) {
  bytes_ += bytes;
  if (!most_.valid()) most_ = invoker;
  if (invoker == most_) {
    most_bytes_ += bytes;
    return;
  }
  auto it = std::find_if(others_.begin(), others_.end(), [&](const auto& other) { return other.first == invoker; });
  if (it == others_.end()) it = others_.insert(others_.end(), {invoker, Bytes{}});
  it->second += bytes;
  if (it->second <= most_bytes_) return;
  std::swap(it->first, most_);
  std::swap(it->second, most_bytes_);
}

void Outputs::add(const Outputs& others) {
  lost_ = lost_ || others.lost_;
  if (others.most_.valid()) add(others.most_, others.most_bytes_);
  for (const auto& [invoker, bytes] : others.others_) add(invoker, bytes);
}

bool Outputs::lose(InvokerId invoker) {
  const auto there = [&](const auto& other) { return other.first == invoker; };
  if (std::erase_if(others_, there) == 0) {
    if (!invoker.valid() || invoker != most_) return false;
    most_ = InvokerId::none();
    most_bytes_ = {};
    const auto larger = [](const auto& a, const auto& b) { return a.second < b.second; };
    if (const auto next = std::max_element(others_.begin(), others_.end(), larger); next != others_.end()) {
      std::tie(most_, most_bytes_) = *next;
      others_.erase(next);
    }
  }
  lost_ = true;
  return true;
}

}  // namespace sluice::core
