// LazyPrefixes: the prefixes of one length that ESG_1Q keeps, in the order in which it extends them, made when they are
// asked for. With five stages ESG_1Q keeps 76 million prefixes for the last one and the cost blade stops it after
// 83,000: the others are only counted. Used by esg_1q_lazy.h.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "plan/cost_sort.h"
#include "plan/rivals/dual_blade.h"
#include "plan/rivals/fit_index.h"

namespace sluice::plan {

// What a search has seen of the extensions of one prefix: the candidates that pass the blades are those among the
// `fastest` fastest and the `cheapest` cheapest of the stage.
struct Extensions {
  std::uint32_t fastest = 0, cheapest = 0;
  std::uint32_t made = 0;  // of the cheapest, those before this position are made
};

class LazyPrefixes {
 public:
  // The empty path alone.
  void start(SearchWorkspace& workspace);
  // Goes on to the extensions, by a candidate of `level`, of the prefixes that were asked for. `extensions`, one for
  // each of them, is swapped for memory to use again. Those above `cost_max` are left out.
  // REQUIRES: the arguments outlive the use of what is made.
  void extend(const SortedStages::Stage& stage, const FitIndex& index, std::vector<Extensions>& extensions,
              Dollars cost_max);
  // How many there are, made or not.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Where the first of them is in the workspace.
  [[nodiscard]] std::uint32_t first() const { return range_.first; }
  // Makes some more of them, the cheapest that are left, by (cost, ms, parent, pick), at the end of the workspace's
  // prefixes. False: all are made.
  [[nodiscard]] bool make_more();

 private:
  // A step goes 1.19 times as far above the least cost as the one before: with the fourth power of this distance, which
  // is how prefixes of four stages grow in number, it makes twice as many.
  static constexpr int kSteps = 20, kStepsPerDoubling = 4;
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] Dollars next_cost();
  void make_up_to(Dollars cost);
  // How many of the stage's candidates extend the prefix at a cost of no more than `cost`.
  [[nodiscard]] std::uint32_t cheapest_within(const Prefix& prefix, Dollars cost) const;

  SearchWorkspace* workspace_ = nullptr;
  SortedStages::Stage stage_;
  const FitIndex* index_ = nullptr;
  std::vector<Extensions> extensions_;  // by parent
  PrefixRange parents_, range_;         // range_: what is made
  Dollars cost_max_ = 0;
  int step_ = 0;
  std::uint64_t size_ = 0;
  std::vector<Prefix> batch_;
  CostSort<Prefix> sort_;
};

}  // namespace sluice::plan
