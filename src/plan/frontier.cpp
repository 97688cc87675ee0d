#include "plan/frontier.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/check.h"
#include "plan/frontier_sums.h"

namespace sluice::plan {
namespace {

using Point = Frontier::Point;

// All children must finish: a sweep over all latencies, lowering one child's cost at a time.
std::vector<Point> parallel_all(std::span<const Frontier* const> children) {
  struct Step {
    double ms;
    std::uint32_t child, point;
    bool operator<(const Step& other) const {
      return std::tie(ms, child, point) < std::tie(other.ms, other.child, other.point);
    }
  };
  std::vector<Step> steps;
  for (std::size_t c = 0; c < children.size(); ++c) {
    for (std::size_t p = 0; p < children[c]->size(); ++p)
      steps.push_back({(*children[c])[p].ms, static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(p)});
  }
  std::sort(steps.begin(), steps.end());
  std::vector<Dollars> current(children.size(), 0);
  std::size_t missing = children.size();
  std::vector<Point> out;
  Dollars total = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Dollars cost = (*children[steps[i].child])[steps[i].point].cost;
    if (steps[i].point == 0) --missing;
    total += cost - current[steps[i].child];
    current[steps[i].child] = cost;
    if (missing > 0 || (i + 1 < steps.size() && steps[i + 1].ms == steps[i].ms)) continue;
    // Summed afresh in one order, so that rounding does not pile up over the sweep and the result repeats.
    if (out.size() % 64 == 0) {
      total = 0;
      for (const Dollars c : current) total += c;
    }
    total = std::max(0.0, total);  // lowered step by step, it may round below
    if (out.empty() || total < out.back().cost) out.push_back({.ms = steps[i].ms, .cost = total});
  }
  return out;
}

std::vector<double> all_latencies(std::span<const Frontier* const> children) {
  std::vector<double> out;
  for (const Frontier* child : children) {
    for (const Point& point : child->points()) out.push_back(point.ms);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// `needed` of them must finish: evaluated at the latencies of the children, at a bounded number of them if there are
// very many; skipped ones count as error.
Frontier parallel_some(std::span<const Frontier* const> children, std::size_t needed) {
  constexpr std::size_t kEvaluationsMax = 4'000'000;
  const std::vector<double> latencies = all_latencies(children);
  const std::size_t stride = 1 + latencies.size() * children.size() / kEvaluationsMax;
  std::vector<Point> out;
  std::vector<Dollars> scratch;
  double error = 0;
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    const bool last = i + 1 == latencies.size();
    if (i % stride != 0 && !last && !out.empty()) continue;  // until the first feasible one, none is skipped
    const Dollars cost = parallel_cost(children, needed, latencies[i], scratch);
    if (cost == std::numeric_limits<Dollars>::infinity() || (!out.empty() && cost >= out.back().cost)) continue;
    if (stride > 1 && !out.empty()) error = std::max(error, out.back().cost / cost - 1);
    out.push_back({.ms = latencies[i], .cost = cost});
  }
  return Frontier(std::move(out), error);
}

}  // namespace

std::vector<Point> undominated(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return std::tie(a.ms, a.cost, a.left, a.right) < std::tie(b.ms, b.cost, b.left, b.right);
  });
  Dollars best = std::numeric_limits<Dollars>::infinity();
  std::erase_if(points, [&](const Point& point) {
    const bool dominated = point.cost >= best;
    best = std::min(best, point.cost);
    return dominated;
  });
  return points;
}

Frontier stage_frontier(std::span<const Candidate> candidates, BatchCap cap, const StageScale& scale, double wait_ms) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].configuration.batch > cap) continue;
    const StageTerms terms = scale.of(candidates[i].ms, candidates[i].cost);
    points.push_back({.ms = terms.ms + wait_ms, .cost = terms.cost, .left = static_cast<std::uint32_t>(i)});
  }
  return Frontier(undominated(std::move(points)));
}

Frontier nothing_to_do() {
  return Frontier({Point{}});
}

Frontier series(const Frontier& first, const Frontier& rest, std::size_t points_max) {
  CHECK(points_max >= 2);
  if (first.empty() || rest.empty()) return {};
  std::vector<Point> sums;
  FrontierSums().find(first.points(), rest.points(), sums);
  return thinned(Frontier(std::move(sums), std::max(first.error(), rest.error())), points_max);
}

Dollars parallel_cost(std::span<const Frontier* const> children, std::size_t needed, double ms,
                      std::vector<Dollars>& scratch) {
  scratch.clear();
  Dollars total = 0;
  for (const Frontier* child : children) {
    total += child->cheapest();
    const std::size_t point = child->within(ms);
    if (point != Frontier::kNone) scratch.push_back((*child)[point].cost - child->cheapest());
  }
  if (scratch.size() < needed) return std::numeric_limits<Dollars>::infinity();
  std::sort(scratch.begin(), scratch.end());
  for (std::size_t i = 0; i < needed; ++i) total += scratch[i];
  return total;
}

Frontier parallel(std::span<const Frontier* const> children, std::size_t needed, std::size_t points_max) {
  CHECK(needed >= 1 && needed <= children.size());
  double inherited = 0;
  std::size_t possible = 0;
  for (const Frontier* child : children) {
    inherited = std::max(inherited, child->error());
    possible += child->empty() ? 0 : 1;
  }
  if (possible < children.size()) return {};  // a branch nobody can run: it is paid for, so there is no plan
  Frontier made = needed == children.size() ? Frontier(parallel_all(children)) : parallel_some(children, needed);
  const double error = compounded(made.error(), inherited);
  return thinned(Frontier({made.points().begin(), made.points().end()}, error), points_max);
}

void choose_parallel(std::span<const Frontier* const> children, std::size_t needed, double ms,
                     std::span<std::size_t> chosen) {
  std::vector<std::pair<Dollars, std::size_t>> surcharges;  // of children that can finish in time
  for (std::size_t c = 0; c < children.size(); ++c) {
    const std::size_t point = children[c]->within(ms);
    chosen[c] = children[c]->size() - 1;  // not waited for: as cheap as possible
    if (point != Frontier::kNone) surcharges.emplace_back((*children[c])[point].cost - children[c]->cheapest(), c);
  }
  CHECK(surcharges.size() >= needed);
  std::sort(surcharges.begin(), surcharges.end());
  for (std::size_t i = 0; i < needed; ++i) chosen[surcharges[i].second] = children[surcharges[i].second]->within(ms);
}

double pick(std::span<const Point> points, int bits, std::vector<Point>& out) {
  out.clear();
  if (points.empty()) return 0;
  const std::uint64_t lowest = std::bit_cast<std::uint64_t>(points.back().cost);
  const std::uint64_t range = std::bit_cast<std::uint64_t>(points.front().cost) - lowest;
  const int shift = std::max(0, static_cast<int>(std::bit_width(range)) - bits);
  std::uint64_t last = ~std::uint64_t{0};
  double error = 0;
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    // The leading bits of a cost are a class; the fastest of a class stands for all of it.
    const std::uint64_t cost_class = (std::bit_cast<std::uint64_t>(points[i].cost) - lowest) >> shift;
    if (cost_class == last && i + 1 < points.size()) {
      error = std::max(error, out.back().cost / points[i].cost - 1);
      continue;
    }
    last = cost_class;
    out.push_back({.ms = points[i].ms, .cost = points[i].cost, .left = i});
  }
  return error;
}

Frontier thinned(Frontier frontier, std::size_t points_max) {
  if (frontier.size() <= points_max) return frontier;
  const std::span<const Point> points = frontier.points();
  // Keeping a point whenever the cost has fallen by more than `step` of itself since the last kept one leaves errors
  // ≤ step. A last point that costs nothing is always kept.
  const auto keep = [&](double step, std::vector<Point>* out) {
    std::size_t kept = 1;
    Dollars last = points.front().cost;
    if (out != nullptr) out->push_back(points.front());
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (last <= points[i].cost * (1 + step) && i + 1 < points.size()) continue;
      ++kept;
      last = points[i].cost;
      if (out != nullptr) out->push_back(points[i]);
    }
    return kept;
  };
  const Dollars least = points.back().cost > 0 ? points.back().cost : points[points.size() - 2].cost;
  double low = 0, high = points.front().cost / least;
  for (int i = 0; i < 40; ++i) {
    const double middle = low + (high - low) / 2;
    (keep(middle, nullptr) <= points_max ? high : low) = middle;
  }
  std::vector<Point> out;
  keep(high, &out);
  // The real error: the largest fall in cost from a kept point to the last one dropped behind it.
  double error = 0;
  std::size_t next = 0;
  for (const Point& point : points) {
    if (next < out.size() && point == out[next])
      ++next;
    else
      error = std::max(error, out[next - 1].cost / point.cost - 1);
  }
  return Frontier(std::move(out), compounded(frontier.error(), error));
}

}  // namespace sluice::plan
