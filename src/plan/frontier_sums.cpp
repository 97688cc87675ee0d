#include "plan/frontier_sums.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "base/check.h"

namespace sluice::plan {
namespace {

using Point = Frontier::Point;

constexpr int kClassBits = 11;
constexpr std::size_t kBlock = 8;

}  // namespace

void FrontierSums::find(std::span<const Point> first, std::span<const Point> rest, std::vector<Point>& out) {
  rest_ms_.clear();
  rest_cost_.clear();
  for (const Point& point : rest) {
    rest_ms_.push_back(point.ms);
    rest_cost_.push_back(point.cost);
  }
  CHECK(first.back().cost >= 0 && rest.back().cost >= 0);
  lowest_ = std::bit_cast<std::uint64_t>(first.back().cost + rest.back().cost);
  const std::uint64_t highest = std::bit_cast<std::uint64_t>(first.front().cost + rest.front().cost);
  shift_ = std::max(0, static_cast<int>(std::bit_width(highest - lowest_)) - kClassBits);
  note_least(first);
  out.clear();
  for (std::size_t i = 0; i < first.size(); ++i) collect(first[i], i, out);
  sort_(out, [](const Point& a, const Point& b) {
    return std::tie(a.cost, a.ms, a.left, a.right) < std::tie(b.cost, b.ms, b.left, b.right);
  });
  double fastest = std::numeric_limits<double>::infinity();
  std::erase_if(out, [&](const Point& point) {
    const bool dominated = point.ms >= fastest;
    fastest = std::min(fastest, point.ms);
    return dominated;
  });
  std::reverse(out.begin(), out.end());
}

// Costs are not negative, so their bits are in their order; the leading ones make classes of about equal relative
// width.
std::size_t FrontierSums::class_of(Dollars cost) const {
  return (std::bit_cast<std::uint64_t>(cost) - lowest_) >> shift_;
}

void FrontierSums::note_least(std::span<const Point> first) {
  least_.assign((std::size_t{1} << kClassBits) + 1, std::numeric_limits<double>::infinity());
  for (const Point& point : first) {
    for (std::size_t j = 0; j < rest_ms_.size(); ++j) {
      double& least = least_[class_of(point.cost + rest_cost_[j]) + 1];
      least = std::min(least, point.ms + rest_ms_[j]);
    }
  }
  for (std::size_t k = 1; k < least_.size(); ++k) least_[k] = std::min(least_[k], least_[k - 1]);
}

// A block of the rest is skipped if even its fastest time at its cheapest cost is beaten.
void FrontierSums::collect(const Point& point, std::size_t position, std::vector<Point>& out) const {
  for (std::size_t from = 0; from < rest_ms_.size(); from += kBlock) {
    const std::size_t to = std::min(from + kBlock, rest_ms_.size());
    if (point.ms + rest_ms_[from] >= least_[class_of(point.cost + rest_cost_[to - 1])]) continue;
    for (std::size_t j = from; j < to; ++j) {
      const Point sum{.ms = point.ms + rest_ms_[j],
                      .cost = point.cost + rest_cost_[j],
                      .left = static_cast<std::uint32_t>(position),
                      .right = static_cast<std::uint32_t>(j)};
      if (sum.ms < least_[class_of(sum.cost)]) out.push_back(sum);
    }
  }
}

}  // namespace sluice::plan
