#include "reproduce/least_chain.h"

#include <algorithm>
#include <limits>

namespace sluice::reproduce {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void LeastChain::start(double budget_ms) {
  budget_ms_ = budget_ms;
  so_far_.assign(1, {0, 0});
  std::fill(buckets_.begin(), buckets_.end(), Point{kInfinity, kInfinity});
}

// Of a bucket only the least time and the least cost are kept, be they of one point or of two.
void LeastChain::put(double ms, double cost) {
  if (ms > budget_ms_) return;
  Point& bucket = buckets_[static_cast<std::size_t>(ms / budget_ms_ * static_cast<double>(kBuckets))];
  bucket.ms = std::min(bucket.ms, ms);
  bucket.cost = std::min(bucket.cost, cost);
}

std::vector<LeastChain::Point> LeastChain::drain() {
  std::vector<Point> out;
  for (Point& bucket : buckets_) {
    if (bucket.cost < (out.empty() ? kInfinity : out.back().cost)) out.push_back(bucket);
    bucket = {kInfinity, kInfinity};
  }
  return out;
}

void LeastChain::offer(double ms, double cost) {
  put(ms, cost);
}

void LeastChain::next_stage() {
  const std::vector<Point> stage = drain();
  for (const Point& a : so_far_) {
    for (const Point& b : stage) {
      if (a.ms + b.ms > budget_ms_) break;
      put(a.ms + b.ms, a.cost + b.cost);
    }
  }
  so_far_ = drain();
}

double LeastChain::least_cost() const {
  return so_far_.empty() ? kInfinity : so_far_.back().cost;
}

}  // namespace sluice::reproduce
