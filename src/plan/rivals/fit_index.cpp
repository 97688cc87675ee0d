#include "plan/rivals/fit_index.h"

#include <algorithm>
#include <numeric>

namespace sluice::plan {

FitIndex::FitIndex(const SortedStages::Stage& stage) : words_((stage.ms.size() + kBits - 1) / kBits) {
  std::vector<std::size_t> by_ms(stage.ms.size());
  std::iota(by_ms.begin(), by_ms.end(), std::size_t{0});
  std::sort(by_ms.begin(), by_ms.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(stage.ms[a], a) < std::pair(stage.ms[b], b); });
  std::vector<std::uint64_t> set(words_);
  bits_ = set;
  for (const std::size_t position : by_ms) {
    ms_.push_back(stage.ms[position]);
    set[position / kBits] |= std::uint64_t{1} << (position % kBits);
    bits_.insert(bits_.end(), set.begin(), set.end());
  }
}

std::size_t FitIndex::within(double ms) const {
  return static_cast<std::size_t>(std::upper_bound(ms_.begin(), ms_.end(), ms) - ms_.begin());
}

std::size_t FitIndex::count(std::size_t fastest, std::size_t cheapest) const {
  std::size_t out = 0;
  for (std::size_t word = 0; word * kBits < cheapest; ++word)
    out += static_cast<std::size_t>(std::popcount(bits(fastest)[word] & below(cheapest, word)));
  return out;
}

}  // namespace sluice::plan
