// FrontierSums: two parts one after the other. Out of all n · m sums of their points, those that nobody dominates.
// Used at deploy (series) and inside a decision (frontier_rest.h); keeps its memory, so that the latter allocates
// nothing.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/cost_sort.h"
#include "plan/frontier.h"

namespace sluice::plan {

// Sums are sieved before they are sorted. One pass over all sums puts their costs into classes and notes the least time
// of each class; a second one collects those that are faster than every cheaper class. Those are a few in a hundred, so
// sorting them is cheap: 500 · 500 sums take a third of a millisecond, and nothing is lost.
class FrontierSums {
 public:
  // Fills `out` like a frontier; `left` and `right` are positions in `first` and `rest`.
  // REQUIRES: both are like a frontier (ms ascending, cost descending) and not empty.
  void find(std::span<const Frontier::Point> first, std::span<const Frontier::Point> rest,
            std::vector<Frontier::Point>& out);

 private:
  [[nodiscard]] std::size_t class_of(Dollars cost) const;
  void note_least(std::span<const Frontier::Point> first);
  void collect(const Frontier::Point& point, std::size_t position, std::vector<Frontier::Point>& out) const;

  std::vector<double> rest_ms_;  // apart, so that the inner loops run over dense memory
  std::vector<Dollars> rest_cost_;
  std::uint64_t lowest_ = 0;
  int shift_ = 0;
  std::vector<double> least_;  // first the least time of class k at k + 1, then of all classes below k at k
  CostSort<Frontier::Point> sort_;
};

}  // namespace sluice::plan
