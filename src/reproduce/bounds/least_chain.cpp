#include "reproduce/bounds/least_chain.h"

#include <algorithm>
#include <limits>

namespace sluice::reproduce {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void LeastChain::start(double budget_ms) {
  budget_ms_ = budget_ms;
  buckets_per_ms_ = static_cast<double>(kBuckets) / budget_ms;
  so_far_.assign(1, {0, 0});
  (void)drain();
}

// Of a bucket only the least time and the least cost are kept, be they of one point or of two.
void LeastChain::offer(double ms, double cost) {
  if (ms > budget_ms_) return;
  const auto index = static_cast<std::size_t>(ms * buckets_per_ms_);
  first_ = std::min(first_, index);
  last_ = std::max(last_, index);
  Point& bucket = buckets_[index];
  bucket.ms = std::min(bucket.ms, ms);
  bucket.cost = std::min(bucket.cost, cost);
}

std::vector<LeastChain::Point> LeastChain::drain() {
  std::vector<Point> out;
  double least = kInfinity;
  for (std::size_t i = first_; i <= last_; ++i) {
    Point& bucket = buckets_[i];
    if (bucket.cost < least) {
      least = bucket.cost;
      out.push_back(bucket);
    }
    bucket = {kInfinity, kInfinity};
  }
  first_ = kBuckets + 1;
  last_ = 0;
  return out;
}

void LeastChain::next_stage() {
  const std::vector<Point> stage = drain();
  for (const Point& a : so_far_) {
    for (const Point& b : stage) {
      if (a.ms + b.ms > budget_ms_) break;
      offer(a.ms + b.ms, a.cost + b.cost);
    }
  }
  so_far_ = drain();
}

double LeastChain::least_cost() const {
  return so_far_.empty() ? kInfinity : so_far_.back().cost;
}

}  // namespace sluice::reproduce
