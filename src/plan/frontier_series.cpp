// The frontier of two parts one after the other: all sums that nobody dominates, out of n · m.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "plan/frontier.h"

namespace sluice::plan {
namespace {

using Point = Frontier::Point;

// Sums are sieved before they are sorted. One pass over all sums puts their costs into classes and notes the least time
// of each class; a second one collects those that are faster than every cheaper class. Those are a few in a hundred, so
// sorting them is cheap: 500 · 500 sums take half a millisecond, and nothing is lost.
class Sieve {
 public:
  Sieve(const Frontier& first, const Frontier& rest) : first_(first), rest_(rest) {
    for (const Point& point : rest.points()) {
      rest_ms_.push_back(point.ms);
      rest_cost_.push_back(point.cost);
    }
    lowest_ = std::bit_cast<std::uint64_t>(first.cheapest() + rest.cheapest());
    const std::uint64_t highest = std::bit_cast<std::uint64_t>(first[0].cost + rest[0].cost);
    shift_ = std::max(0, static_cast<int>(std::bit_width(highest - lowest_)) - kClassBits);
  }

  std::vector<Point> run() {
    note_least();
    for (std::size_t i = 0; i < first_.size(); ++i) collect(i);
    return undominated(std::move(out_));
  }

 private:
  static constexpr int kClassBits = 11;
  static constexpr std::size_t kBlock = 8;

  // Costs are not negative, so their bits are in their order; the leading ones are a class of equal relative width.
  std::size_t class_of(Dollars cost) const { return (std::bit_cast<std::uint64_t>(cost) - lowest_) >> shift_; }

  void note_least() {
    for (const Point& point : first_.points()) {
      for (std::size_t j = 0; j < rest_ms_.size(); ++j) {
        double& least = least_[class_of(point.cost + rest_cost_[j]) + 1];
        least = std::min(least, point.ms + rest_ms_[j]);
      }
    }
    for (std::size_t k = 1; k < least_.size(); ++k) least_[k] = std::min(least_[k], least_[k - 1]);
  }

  // A block of the rest is skipped if even its fastest time at its cheapest cost is beaten.
  void collect(std::size_t i) {
    const Point& point = first_[i];
    for (std::size_t from = 0; from < rest_ms_.size(); from += kBlock) {
      const std::size_t to = std::min(from + kBlock, rest_ms_.size());
      if (point.ms + rest_ms_[from] >= least_[class_of(point.cost + rest_cost_[to - 1])]) continue;
      for (std::size_t j = from; j < to; ++j) {
        const Point sum{.ms = point.ms + rest_ms_[j],
                        .cost = point.cost + rest_cost_[j],
                        .left = static_cast<std::uint32_t>(i),
                        .right = static_cast<std::uint32_t>(j)};
        if (sum.ms < least_[class_of(sum.cost)]) out_.push_back(sum);
      }
    }
  }

  const Frontier& first_;
  const Frontier& rest_;
  std::vector<double> rest_ms_;  // apart, so that the inner loops run over dense memory
  std::vector<Dollars> rest_cost_;
  std::uint64_t lowest_ = 0;
  int shift_ = 0;
  // First the least time of class k at k + 1, then of all classes below k at k.
  std::vector<double> least_ =
      std::vector<double>((std::size_t{1} << kClassBits) + 1, std::numeric_limits<double>::infinity());
  std::vector<Point> out_;
};

}  // namespace

Frontier series(const Frontier& first, const Frontier& rest, std::size_t points_max) {
  CHECK(points_max >= 2);
  if (first.empty() || rest.empty()) return {};
  return thinned(Frontier(Sieve(first, rest).run(), std::max(first.error(), rest.error())), points_max);
}

}  // namespace sluice::plan
