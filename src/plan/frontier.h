// Frontier: for a part of a workflow, the plans nobody dominates, as points (latency, cost per request). Series adds
// points, parallel takes the later and pays for both; folding a series-parallel tree gives the exact trade-off of the
// whole. Used by frontier_planner.h. After thinning every cost is at most 1 + error() times the exact one, for any
// budget.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "plan/candidate.h"
#include "plan/evaluate.h"

namespace sluice::plan {

class Frontier {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // Where a point comes from: of a leaf `left` is the candidate; of a series the points of the first part and the rest.
  struct Point {
    double ms = 0;
    Dollars cost = 0;
    std::uint32_t left = 0, right = 0;
    friend bool operator==(const Point&, const Point&) = default;
  };

  Frontier() = default;
  // REQUIRES: ms strictly ascending, cost strictly descending.
  explicit Frontier(std::vector<Point> points, double error = 0) : points_(std::move(points)), error_(error) {}

  [[nodiscard]] bool empty() const { return points_.empty(); }  // no plan at all
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  [[nodiscard]] const Point& operator[](std::size_t i) const { return points_[i]; }
  [[nodiscard]] std::span<const Point> points() const { return points_; }
  [[nodiscard]] double fastest_ms() const { return points_.front().ms; }
  [[nodiscard]] Dollars cheapest() const { return points_.back().cost; }
  [[nodiscard]] double error() const { return error_; }

  // The cheapest point within `ms`, kNone if none is.
  [[nodiscard]] std::size_t within(double ms) const {
    const std::size_t count = count_within(points_, ms);
    return count == 0 ? kNone : count - 1;
  }
  // How many of the points, which are by ms, are within `ms`: a binary search without branches to mispredict.
  [[nodiscard]] static std::size_t count_within(std::span<const Point> points, double ms) {
    std::size_t first = 0, count = points.size();  // points before `first` are within
    while (count > 0) {
      const std::size_t half = count / 2;
      const bool inside = points[first + half].ms <= ms;
      first = inside ? first + half + 1 : first;
      count = inside ? count - half - 1 : half;
    }
    return first;
  }

  friend bool operator==(const Frontier&, const Frontier&) = default;

 private:
  std::vector<Point> points_;
  double error_ = 0;
};

// One stage: its candidates with batch ≤ cap, scaled; `wait_ms` is spent before it starts.
[[nodiscard]] Frontier stage_frontier(std::span<const Candidate> candidates, BatchCap cap, const StageScale& scale = {},
                                      double wait_ms = 0);
// Nothing to do: no time, no cost.
[[nodiscard]] Frontier nothing_to_do();
// One after the other.
[[nodiscard]] Frontier series(const Frontier& first, const Frontier& rest, std::size_t points_max);
// At the same time; the region ends when `needed` children have finished, and all are paid for.
[[nodiscard]] Frontier parallel(std::span<const Frontier* const> children, std::size_t needed, std::size_t points_max);
// What all of them cost if `needed` are to finish within `ms`, the others being as cheap as they can; infinity if they
// cannot. `scratch` is overwritten. REQUIRES: no child is empty, needed ≤ children.
[[nodiscard]] Dollars parallel_cost(std::span<const Frontier* const> children, std::size_t needed, double ms,
                                    std::vector<Dollars>& scratch);
// What parallel() chooses for each child when the region has `ms`: a point of each. REQUIRES: feasible.
void choose_parallel(std::span<const Frontier* const> children, std::size_t needed, double ms,
                     std::span<std::size_t> chosen);
// At most `points_max` points, the fastest and the cheapest among them, spread evenly by relative cost: parts of a
// workflow share a relative error, they do not add theirs up.
[[nodiscard]] Frontier thinned(Frontier frontier, std::size_t points_max);
// An error on top of another one.
[[nodiscard]] inline double compounded(double a, double b) {
  return (1 + a) * (1 + b) - 1;
}
// At most 2^`bits` + 1 of the points, spread by relative cost, the fastest and the cheapest among them; `left` of a
// kept one is its position in `points`. The error that brings. Coarser than thinned(), but one pass: for decisions.
[[nodiscard]] double pick(std::span<const Frontier::Point> points, int bits, std::vector<Frontier::Point>& out);
// Sorts by ms and drops what is dominated; of equals the first by (left, right) stays.
[[nodiscard]] std::vector<Frontier::Point> undominated(std::vector<Frontier::Point> points);

}  // namespace sluice::plan
