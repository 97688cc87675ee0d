// LeastChain: the cheapest way through stages one after the other within a time, for the bounds, which ask it once per
// request. Times are rounded down to a fine grid, so that the answer is never too high; it is low by what a thousandth
// of the time buys.
#pragma once
#include <cstddef>
#include <vector>

namespace sluice::reproduce {

class LeastChain {
 public:
  LeastChain() : buckets_(kBuckets + 2) {}
  // Starts over: nothing to run, `budget_ms` to spend. REQUIRES: budget_ms > 0.
  void start(double budget_ms);
  // One way to run the stage at hand.
  void offer(double ms, double cost);
  // The stage at hand is complete; the next offers are for the one after it.
  void next_stage();
  // Infinite if no way through all stages is within the budget.
  [[nodiscard]] double least_cost() const;

 private:
  struct Point {
    double ms, cost;
  };
  static constexpr std::size_t kBuckets = 2048;
  [[nodiscard]] std::vector<Point> drain();

  double budget_ms_ = 0, buckets_per_ms_ = 0;
  std::vector<Point> buckets_;
  std::size_t first_ = 0, last_ = kBuckets;  // buckets that may hold something
  std::vector<Point> so_far_;                // by time, costs falling
};

}  // namespace sluice::reproduce
