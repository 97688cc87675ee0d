// FitIndex: which candidates of a stage are among its fastest, as bits in the order of cost. It counts and lists the
// candidates that pass both blades without looking at the others. Used by esg_1q_lazy.h.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/rivals/sorted_stages.h"

namespace sluice::plan {

class FitIndex {
 public:
  explicit FitIndex(const SortedStages::Stage& stage);

  // How many candidates take no more than `ms`: that many of the fastest.
  [[nodiscard]] std::size_t within(double ms) const;
  // The time of the slowest of the `fastest` fastest. REQUIRES: fastest ≥ 1.
  [[nodiscard]] double slowest_of(std::size_t fastest) const { return ms_[fastest - 1]; }
  // How many of the `cheapest` cheapest are among the `fastest` fastest.
  [[nodiscard]] std::size_t count(std::size_t fastest, std::size_t cheapest) const;
  // Calls `each(position by cost)` for those of positions [first, last) that are among the `fastest` fastest, cheapest
  // first, until it returns false.
  template <class Each>
  void walk(std::size_t fastest, std::size_t first, std::size_t last, Each each) const {
    for (std::size_t word = first / kBits; word * kBits < last; ++word) {
      std::uint64_t left = bits(fastest)[word] & below(last, word) & ~below(first, word);
      for (; left != 0; left &= left - 1) {
        if (!each(word * kBits + static_cast<std::size_t>(std::countr_zero(left)))) return;
      }
    }
  }

 private:
  static constexpr std::size_t kBits = 64;
  // The bits of one word that stand for positions before `end`.
  static std::uint64_t below(std::size_t end, std::size_t word) {
    if (end >= (word + 1) * kBits) return ~std::uint64_t{0};
    return end <= word * kBits ? 0 : (std::uint64_t{1} << (end % kBits)) - 1;
  }
  [[nodiscard]] std::span<const std::uint64_t> bits(std::size_t fastest) const {
    return std::span(bits_).subspan(fastest * words_, words_);
  }

  std::vector<double> ms_;           // ascending
  std::size_t words_;                // of one set of candidates
  std::vector<std::uint64_t> bits_;  // the sets of the 0, 1, 2, … fastest: 8 KiB for 256 candidates
};

}  // namespace sluice::plan
