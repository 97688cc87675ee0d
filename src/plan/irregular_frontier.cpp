#include "plan/irregular_frontier.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::plan {
namespace {

using Point = Frontier::Point;

constexpr double kEnumeratedMax = 100'000;
constexpr std::size_t kDeadlines = 128;

class Search {
 public:
  Search(const IrregularRegion& region, std::span<const Frontier* const> parts)
      : region_(region),
        parts_(parts),
        ms_(parts.size()),
        finish_(parts.size()),
        tail_(parts.size()),
        chosen_(parts.size()) {}

  // Every combination of points.
  void enumerate() {
    for (;;) {
      note();
      std::size_t i = 0;
      while (i < chosen_.size() && ++chosen_[i] == parts_[i]->size()) chosen_[i++] = 0;
      if (i == chosen_.size()) return;
    }
  }

  // Good plans for deadlines from the fastest to where everything is cheapest.
  void sample() {
    for (std::size_t i = 0; i < parts_.size(); ++i) ms_[i] = parts_[i]->fastest_ms();
    (void)region_.finish(ms_, finish_);
    region_.tails(ms_, tail_);
    longest_through_.resize(parts_.size());
    double shortest = 0, longest = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      longest_through_[i] = finish_[i] + tail_[i];
      shortest = std::max(shortest, longest_through_[i]);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) ms_[i] = (*parts_[i])[parts_[i]->size() - 1].ms;
    longest = std::max(shortest, region_.finish(ms_, finish_));
    std::vector<Dollars> upper, lower;
    for (std::size_t k = 0; k < kDeadlines; ++k) {
      const double deadline =
          shortest + (longest - shortest) * static_cast<double>(k) / static_cast<double>(kDeadlines - 1);
      meet(deadline);
      upper.push_back(note());
      lower.push_back(least_cost(deadline));
    }
    // A deadline between two samples is served by the plan of the earlier one; nothing can beat the bound of the later.
    for (std::size_t k = 0; k < kDeadlines; ++k) {
      const Dollars cheapest_served =
          *std::min_element(upper.begin(), upper.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      const Dollars bound = lower[std::min(k + 1, kDeadlines - 1)];
      if (cheapest_served > bound) error_ = std::max(error_, cheapest_served / bound - 1);
    }
  }

  IrregularFrontier result(std::size_t points_max) {
    double inherited = 0;
    for (const Frontier* part : parts_) inherited = std::max(inherited, part->error());
    const double error = compounded(error_, inherited);
    const Frontier kept = thinned(Frontier(undominated(std::move(points_)), error), points_max);
    IrregularFrontier out;
    std::vector<Point> points(kept.points().begin(), kept.points().end());
    for (std::size_t p = 0; p < points.size(); ++p) {
      const std::size_t row = points[p].left * parts_.size();
      out.choices.insert(out.choices.end(), rows_.begin() + static_cast<std::ptrdiff_t>(row),
                         rows_.begin() + static_cast<std::ptrdiff_t>(row + parts_.size()));
      points[p].left = static_cast<std::uint32_t>(p);
    }
    out.frontier = Frontier(std::move(points), kept.error());
    return out;
  }

 private:
  // Takes the present choice into the list of points; its cost.
  Dollars note() {
    Dollars cost = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      ms_[i] = (*parts_[i])[chosen_[i]].ms;
      cost += (*parts_[i])[chosen_[i]].cost;
    }
    const double ms = region_.finish(ms_, finish_);
    points_.push_back({.ms = ms, .cost = cost, .left = static_cast<std::uint32_t>(rows_.size() / parts_.size())});
    rows_.insert(rows_.end(), chosen_.begin(), chosen_.end());
    return cost;
  }

  // Time in proportion to the fastest: along any path the shares add up to at most 1. Then one pass in topological
  // order hands out what is left, heads as newly chosen, tails as they were.
  void meet(double deadline) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double share =
          longest_through_[i] > 0 ? parts_[i]->fastest_ms() / longest_through_[i] * deadline : deadline;
      choose(i, std::max(share, parts_[i]->fastest_ms()));
    }
    region_.tails(ms_, tail_);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double start = region_.start(i, finish_);
      choose(i, std::max(deadline - start - tail_[i], ms_[i]));
      finish_[i] = start + ms_[i];
    }
  }

  void choose(std::size_t i, double ms) {
    chosen_[i] = static_cast<std::uint32_t>(parts_[i]->within(ms));
    ms_[i] = (*parts_[i])[chosen_[i]].ms;
  }

  // No plan within `deadline` costs less: each part on its own may use all the slack of the longest path through it.
  Dollars least_cost(double deadline) const {
    Dollars total = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double ms = deadline - (longest_through_[i] - parts_[i]->fastest_ms());
      const std::size_t point =
          region_.waits_for_all() ? parts_[i]->within(std::max(ms, parts_[i]->fastest_ms())) : parts_[i]->size() - 1;
      total += (*parts_[i])[point].cost;
    }
    return total;
  }

  const IrregularRegion& region_;
  std::span<const Frontier* const> parts_;
  std::vector<double> ms_, finish_, tail_, longest_through_;
  std::vector<std::uint32_t> chosen_;
  std::vector<std::uint32_t> rows_;
  std::vector<Point> points_;
  double error_ = 0;
};

}  // namespace

IrregularFrontier irregular_frontier(const IrregularRegion& region, std::span<const Frontier* const> parts,
                                     std::size_t points_max) {
  CHECK(parts.size() == region.size());
  double combinations = 1;
  for (const Frontier* part : parts) combinations *= static_cast<double>(part->size());
  if (combinations == 0) return {};
  Search search(region, parts);
  if (combinations <= kEnumeratedMax)
    search.enumerate();
  else
    search.sample();
  return search.result(points_max);
}

}  // namespace sluice::plan
