#include "plan/frontier_rest.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "plan/irregular_region.h"

namespace sluice::plan {
namespace {

using Kind = SeriesParallelTree::Kind;
using Point = Frontier::Point;

constexpr Dollars kImpossible = std::numeric_limits<Dollars>::infinity();
// Inside parallel regions a decision multiplies frontiers level by level. Up to this many sums that is exact; beyond,
// each factor keeps some 2^kPickBits points. On 500 random stages that made plans 0.01 % dearer on average and 0.4 % at
// most, and the slowest decision ten times faster.
constexpr std::size_t kExactSumsMax = 1u << 13;
constexpr int kPickBits = 6, kAllBits = 64;

}  // namespace

bool Rest::prepare(const WorkflowModel& model, const FrontierTree& tree, const TreeLinks& links, std::size_t stage,
                   double budget_ms) {
  model_ = &model;
  tree_ = &tree;
  budget_ms_ = budget_ms;
  error_ = 0;
  if (!climb(links, stage)) return false;
  after_ = end_.points();
  for (std::size_t i = depth_; i-- > 0;) {
    levels_[i].after_node = after_;
    if (!through(levels_[i])) return false;
    after_ = levels_[i].after;
  }
  return !after_.empty();
}

// Notes the ancestors, and when each could have finished at the earliest: what takes too long after that is no plan.
bool Rest::climb(const TreeLinks& links, std::size_t stage) {
  const SeriesParallelTree& tree = model_->tree;
  Index node = links.leaf[stage];
  if (tree_->of(*model_, node).empty()) return false;
  double earliest_ms = tree_->of(*model_, node).fastest_ms();
  for (depth_ = 0; node != tree.root(); node = links.parent[node], ++depth_) {
    if (depth_ == levels_.size()) levels_.emplace_back();
    Level& level = levels_[depth_];
    level.node = links.parent[node];
    level.child = links.position[node];
    level.earliest_ms = earliest_ms;
    level.suffix = nullptr;
    const SeriesParallelTree::Node& parent = tree.nodes[level.node];
    if (parent.kind == Kind::series) {
      level.suffix = &tree_->suffix(*model_, level.node, level.child + 1);
      if (level.suffix->empty()) return false;
      earliest_ms += level.suffix->fastest_ms();
    } else if (parent.kind == Kind::irregular || parent.needed < parent.child_count) {
      earliest_ms = 0;  // it may end without waiting for the stage at hand
    }
  }
  return true;
}

bool Rest::through(Level& level) {
  bool possible = false;
  switch (model_->tree.nodes[level.node].kind) {
    case Kind::series:
      possible = through_series(level);
      break;
    case Kind::parallel:
      possible = through_parallel(level);
      break;
    case Kind::irregular:
      possible = through_irregular(level);
      break;
    case Kind::stage:
    case Kind::empty:
      CHECK(false);  // these have no children
  }
  if (possible) level.after = in_time(level.after, level.earliest_ms);
  return possible && !level.after.empty();
}

// The points that can still be used when `before_ms` have passed. With some room, since sums may round either way: what
// is too slow by so little is found out later.
std::span<const Point> Rest::in_time(std::span<const Point> points, double before_ms) const {
  return points.first(Frontier::count_within(points, budget_ms_ * (1 + 1e-9) - before_ms));
}

bool Rest::through_series(Level& level) {
  if (level.child + 1 == model_->tree.nodes[level.node].child_count) {
    level.from = Level::From::after_node;
    level.after = level.after_node;
    return true;
  }
  const std::span<const Point> suffix = level.suffix->points();
  if (level.after_node.data() == end_.points().data()) {
    level.from = Level::From::suffix;
    level.after = suffix;
    return true;
  }
  // Neither part can have more time than the other leaves it at its fastest.
  pick_factors(in_time(suffix, level.earliest_ms + level.after_node.front().ms),
               in_time(level.after_node, level.earliest_ms + suffix.front().ms));
  if (first_.empty() || then_.empty()) return false;
  sums_.find(first_, then_, level.made);
  for (Point& point : level.made) point = {point.ms, point.cost, first_[point.left].left, then_[point.right].left};
  level.from = Level::From::made;
  level.after = level.made;
  return true;
}

// Into first_ and then_, whose `left` are positions in `first` and `then`.
void Rest::pick_factors(std::span<const Point> first, std::span<const Point> then) {
  const int bits = first.size() * then.size() <= kExactSumsMax ? kAllBits : kPickBits;
  const double error = std::max(pick(first, bits, first_), pick(then, bits, then_));
  error_ = compounded(error_, error);
}

void Rest::find_siblings(Level& level) const {
  const auto children = model_->tree.children_of(model_->tree.nodes[level.node]);
  level.siblings.clear();
  for (std::uint32_t c = 0; c < children.size(); ++c) {
    if (c != level.child) level.siblings.push_back(&tree_->of(*model_, children[c]));
  }
}

// For every point of after_node: what the siblings cost if `needed` of them are to finish before it; infinity if they
// cannot. The later points leave the siblings less time, so one walk down each sibling's points finds them all.
void Rest::add_up_siblings(const Level& level, std::size_t needed, std::vector<Dollars>& costs) {
  costs.assign(level.after_node.size(), 0);
  if (needed < level.siblings.size()) {
    for (std::size_t k = 0; k < costs.size(); ++k) {
      costs[k] = parallel_cost(level.siblings, needed, budget_ms_ - level.after_node[k].ms, surcharges_);
    }
    return;
  }
  for (const Frontier* sibling : level.siblings) {
    std::size_t end = sibling->size();
    for (std::size_t k = 0; k < costs.size(); ++k) {
      const double region_ms = budget_ms_ - level.after_node[k].ms;  // infinite if nobody waits for the region either
      while (end > 0 && (*sibling)[end - 1].ms > region_ms) --end;
      costs[k] += end == 0 ? kImpossible : (*sibling)[end - 1].cost;
    }
  }
}

bool Rest::through_parallel(Level& level) {
  find_siblings(level);
  for (const Frontier* sibling : level.siblings) {
    if (sibling->empty()) return false;
  }
  const std::size_t needed = model_->tree.nodes[level.node].needed;
  level.made.clear();
  if (needed <= level.siblings.size()) {  // the siblings may be enough
    Point not_waited_for{.ms = kNotWaitedFor, .cost = kImpossible, .right = 1};
    add_up_siblings(level, needed, costs_);
    for (std::uint32_t k = 0; k < costs_.size(); ++k) {
      const Dollars cost = level.after_node[k].cost + costs_[k];
      if (cost < not_waited_for.cost) not_waited_for = {kNotWaitedFor, cost, k, 1};
    }
    if (not_waited_for.cost < kImpossible) level.made.push_back(not_waited_for);
  }
  add_up_siblings(level, needed - 1, costs_);
  for (std::uint32_t k = 0; k < costs_.size(); ++k) {
    const Point& after = level.after_node[k];
    if (costs_[k] < kImpossible) level.made.push_back({.ms = after.ms, .cost = after.cost + costs_[k], .left = k});
  }
  level.made = undominated(std::move(level.made));
  level.from = Level::From::made;
  level.after = level.made;
  return true;
}

// Plans come from the frontier of the region: each of its points leaves the child on the way a latest finish.
// Caveat: combinations that are not in that frontier are not tried.
bool Rest::through_irregular(Level& level) {
  find_siblings(level);
  const Frontier& whole = tree_->of(*model_, level.node);
  if (whole.empty()) return false;
  const auto children = model_->tree.children_of(model_->tree.nodes[level.node]);
  const IrregularRegion region(model_->tree, level.node);
  level.done = region.before(level.child);
  std::vector<double> ms(children.size()), finish(children.size()), tails(children.size());
  pick_factors(whole.points(), level.after_node);
  level.made.clear();
  for (const Point& planned : first_) {
    const auto chosen = tree_->choices(*model_, level.node, planned.left);
    Dollars others = 0;
    for (std::uint32_t c = 0, s = 0; c < children.size(); ++c) {
      ms[c] = 0;
      if (c == level.child) continue;
      const Frontier& sibling = *level.siblings[s++];
      if (level.done[c]) continue;
      ms[c] = sibling[chosen[c]].ms;
      others += sibling[chosen[c]].cost;
    }
    const double without_own = region.finish(ms, finish);
    region.tails(ms, tails);
    for (const Point& after : then_) {
      if (without_own + after.ms > budget_ms_) continue;
      level.made.push_back({after.ms + tails[level.child], after.cost + others, after.left, planned.left});
    }
  }
  level.made = undominated(std::move(level.made));
  level.from = Level::From::made;
  level.after = level.made;
  return true;
}

}  // namespace sluice::plan
