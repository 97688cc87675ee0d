#include "plan/frontier_rest.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "plan/irregular_region.h"

namespace sluice::plan {
namespace {

using Kind = SeriesParallelTree::Kind;
using Point = Frontier::Point;

// Products made while answering a question are kept smaller than those made at deploy.
constexpr std::size_t kQueryPointsMax = 512;
// The time needed after a branch that nobody waits for.
constexpr double kNotWaitedFor = -std::numeric_limits<double>::infinity();

// What the siblings cost if `needed` of them are to finish within `ms`: infinity if they cannot.
Dollars siblings_cost(std::span<const Frontier* const> siblings, std::size_t needed, double ms) {
  Dollars total = 0;
  if (needed == siblings.size()) {
    for (const Frontier* sibling : siblings) {
      const std::size_t point = sibling->within(ms);
      if (point == Frontier::kNone) return std::numeric_limits<Dollars>::infinity();
      total += (*sibling)[point].cost;
    }
    return total;
  }
  std::vector<Dollars> surcharges;
  for (const Frontier* sibling : siblings) {
    total += sibling->cheapest();
    const std::size_t point = sibling->within(ms);
    if (point != Frontier::kNone) surcharges.push_back((*sibling)[point].cost - sibling->cheapest());
  }
  if (surcharges.size() < needed) return std::numeric_limits<Dollars>::infinity();
  std::sort(surcharges.begin(), surcharges.end());
  for (std::size_t i = 0; i < needed; ++i) total += surcharges[i];
  return total;
}

struct SumChoice {
  std::size_t first = Frontier::kNone, rest = Frontier::kNone;
  Dollars cost = std::numeric_limits<Dollars>::infinity();
};

// The cheapest pair that together takes at most `ms`.
SumChoice cheapest_pair(const Frontier& first, const Frontier& rest, double ms) {
  SumChoice best;
  if (rest.size() == 1 && rest[0].ms == 0 && rest[0].cost == 0) {  // nothing follows: one binary search
    best.first = first.within(ms);
    if (best.first == Frontier::kNone) return best;
    return {best.first, 0, first[best.first].cost};
  }
  std::size_t j = rest.size();
  for (std::size_t i = 0; i < first.size(); ++i) {
    while (j > 0 && first[i].ms + rest[j - 1].ms > ms) --j;
    if (j == 0) break;
    const Dollars cost = first[i].cost + rest[j - 1].cost;
    if (cost < best.cost) best = {i, j - 1, cost};
  }
  return best;
}

}  // namespace

void Rest::push(Index node, std::uint32_t child) {
  if (depth_ == levels_.size()) levels_.emplace_back();
  levels_[depth_].node = node;
  levels_[depth_].child = child;
  ++depth_;
}

bool Rest::prepare(const WorkflowModel& model, const FrontierTree& tree, const TreeLinks& links, std::size_t stage,
                   double budget_ms, const Progress* progress) {
  model_ = &model;
  tree_ = &tree;
  budget_ms_ = budget_ms;
  depth_ = 0;
  for (Index node = links.leaf[stage]; node != model.tree.root(); node = links.parent[node])
    push(links.parent[node], links.position[node]);
  std::reverse(levels_.begin(), levels_.begin() + static_cast<std::ptrdiff_t>(depth_));
  const Frontier* after = &end_;
  first_ = &end_;
  then_ = &end_;
  for (std::size_t i = 0; i < depth_; ++i) {
    Level& level = levels_[i];
    level.after_node = after;
    const Kind kind = model.tree.nodes[level.node].kind;
    const bool possible = kind == Kind::series     ? through_series(level, i + 1 == depth_)
                          : kind == Kind::parallel ? through_parallel(level, progress)
                                                   : through_irregular(level, progress);
    if (!possible) return false;
    after = level.after;
  }
  if (depth_ == 0 || model.tree.nodes[levels_[depth_ - 1].node].kind != Kind::series) then_ = after;
  return true;
}

bool Rest::through_series(Level& level, bool innermost) {
  const Frontier& suffix = tree_->suffix(*model_, level.node, level.child + 1);
  if (suffix.empty()) return false;
  if (innermost) {
    first_ = &suffix;
    then_ = level.after_node;
    level.after = nullptr;
    return true;
  }
  if (level.after_node == &end_) {
    level.after = &suffix;
  } else {
    level.own = series(suffix, *level.after_node, kQueryPointsMax);
    level.after = &level.own;
  }
  return true;
}

void Rest::find_siblings(Level& level, const Progress* progress) const {
  const auto children = model_->tree.children_of(model_->tree.nodes[level.node]);
  level.siblings.clear();
  level.begun.clear();
  level.begun.reserve(children.size());  // pointers into it must stay valid
  for (std::uint32_t c = 0; c < children.size(); ++c) {
    if (c == level.child) continue;
    if (progress == nullptr) {
      level.siblings.push_back(&tree_->of(*model_, children[c]));
    } else {
      level.begun.push_back(remaining(*model_, *tree_, children[c], *progress));
      level.siblings.push_back(&level.begun.back());
    }
  }
}

bool Rest::through_parallel(Level& level, const Progress* progress) {
  find_siblings(level, progress);
  for (const Frontier* sibling : level.siblings) {
    if (sibling->empty()) return false;
  }
  const std::size_t needed = model_->tree.nodes[level.node].needed;
  std::vector<Point> points;
  Point not_waited_for{.ms = kNotWaitedFor, .cost = std::numeric_limits<Dollars>::infinity(), .right = 1};
  for (std::size_t k = 0; k < level.after_node->size(); ++k) {
    const Point& after = (*level.after_node)[k];
    const double region_ms = budget_ms_ - after.ms;  // infinite if nobody waits for the region either
    const Dollars with_own = siblings_cost(level.siblings, needed - 1, region_ms);
    if (with_own < std::numeric_limits<Dollars>::infinity()) {
      points.push_back({.ms = after.ms, .cost = after.cost + with_own, .left = static_cast<std::uint32_t>(k)});
    }
    if (needed > level.siblings.size()) continue;
    const Dollars without = after.cost + siblings_cost(level.siblings, needed, region_ms);
    if (without < not_waited_for.cost) {
      not_waited_for.cost = without;
      not_waited_for.left = static_cast<std::uint32_t>(k);
    }
  }
  if (not_waited_for.cost < std::numeric_limits<Dollars>::infinity()) points.push_back(not_waited_for);
  level.own = Frontier(undominated(std::move(points)));
  level.after = &level.own;
  return !level.own.empty();
}

// Plans come from the frontier of the region: each of its points leaves the child on the way a latest finish.
// Caveat: combinations that are not in that frontier are not tried.
bool Rest::through_irregular(Level& level, const Progress* progress) {
  find_siblings(level, progress);
  const Frontier& whole = tree_->of(*model_, level.node);
  if (whole.empty()) return false;
  const auto children = model_->tree.children_of(model_->tree.nodes[level.node]);
  const IrregularRegion region(model_->tree, level.node);
  level.done = region.before(level.child);
  std::vector<double> ms(children.size()), finish(children.size()), tails(children.size());
  std::vector<Point> points;
  for (std::size_t p = 0; p < whole.size(); ++p) {
    const auto chosen = tree_->choices(*model_, level.node, p);
    Dollars others = 0;
    for (std::uint32_t c = 0, s = 0; c < children.size(); ++c) {
      ms[c] = 0;
      if (c == level.child) continue;
      const Frontier& sibling = *level.siblings[s++];
      if (progress == nullptr && level.done[c]) continue;
      // A sibling that has begun has other points than were chosen at deploy: the nearest that is not slower.
      const Frontier& planned = tree_->of(*model_, children[c]);
      const std::size_t point =
          progress == nullptr ? chosen[c] : sibling.within(std::max(planned[chosen[c]].ms, sibling.fastest_ms()));
      ms[c] = sibling[point].ms;
      others += sibling[point].cost;
    }
    const double without_own = region.finish(ms, finish);
    region.tails(ms, tails);
    for (std::size_t k = 0; k < level.after_node->size(); ++k) {
      const Point& after = (*level.after_node)[k];
      if (without_own + after.ms > budget_ms_) continue;
      points.push_back({.ms = after.ms + tails[level.child],
                        .cost = after.cost + others,
                        .left = static_cast<std::uint32_t>(k),
                        .right = static_cast<std::uint32_t>(p)});
    }
  }
  level.own = Frontier(undominated(std::move(points)));
  level.after = &level.own;
  return !level.own.empty();
}

RestChoice Rest::cheapest(double ms) const {
  const SumChoice best = cheapest_pair(*first_, *then_, ms);
  if (best.first == Frontier::kNone) return {};
  const double then_ms = (*then_)[best.rest].ms;
  return {.found = true, .ms = (*first_)[best.first].ms + (then_ms == kNotWaitedFor ? 0 : then_ms), .cost = best.cost};
}

void Rest::collect(const WorkflowModel& model, double ms, std::vector<ChosenStage>& out) const {
  double left = budget_ms_ - ms;  // after the child of the level at hand has finished
  for (std::size_t i = depth_; i-- > 0;) {
    const Level& level = levels_[i];
    if (model.tree.nodes[level.node].kind == Kind::series) {
      const Frontier& suffix = tree_->suffix(model, level.node, level.child + 1);
      const SumChoice best = cheapest_pair(suffix, *level.after_node, left);
      CHECK(best.first != Frontier::kNone);
      tree_->collect_suffix(model, level.node, level.child + 1, best.first, out);
      left -= suffix[best.first].ms;
    } else {
      const std::size_t at = level.own.within(left);
      CHECK(at != Frontier::kNone);
      const Point& point = level.own[at];
      if (model.tree.nodes[level.node].kind == Kind::parallel)
        collect_parallel(model, level, point, out);
      else
        collect_irregular(model, level, point, out);
      left = (*level.after_node)[point.left].ms;
    }
  }
}

void Rest::collect_parallel(const WorkflowModel& model, const Level& level, const Point& point,
                            std::vector<ChosenStage>& out) const {
  if (!level.begun.empty()) return;
  const auto children = model.tree.children_of(model.tree.nodes[level.node]);
  const double region_ms = budget_ms_ - (*level.after_node)[point.left].ms;
  const std::size_t needed = model.tree.nodes[level.node].needed - (point.right == 1 ? 0 : 1);
  std::vector<std::size_t> chosen(level.siblings.size());
  choose_parallel(level.siblings, needed, region_ms, chosen);
  for (std::uint32_t c = 0, s = 0; c < children.size(); ++c) {
    if (c != level.child) tree_->collect(model, children[c], chosen[s++], out);
  }
}

void Rest::collect_irregular(const WorkflowModel& model, const Level& level, const Point& point,
                             std::vector<ChosenStage>& out) const {
  if (!level.begun.empty()) return;
  const auto children = model.tree.children_of(model.tree.nodes[level.node]);
  const auto chosen = tree_->choices(model, level.node, point.right);
  for (std::uint32_t c = 0; c < children.size(); ++c) {
    if (c != level.child && !level.done[c]) tree_->collect(model, children[c], chosen[c], out);
  }
}

double fastest_from(const WorkflowModel& model, const FrontierTree& tree, const TreeLinks& links, std::size_t stage) {
  constexpr double kImpossible = std::numeric_limits<double>::infinity();
  SeriesParallelTree::Index node = links.leaf[stage];
  if (tree.of(model, node).empty()) return kImpossible;
  double ms = tree.of(model, node).fastest_ms();
  for (; node != model.tree.root(); node = links.parent[node]) {
    const SeriesParallelTree::Index parent = links.parent[node];
    const SeriesParallelTree::Node& above = model.tree.nodes[parent];
    const auto children = model.tree.children_of(above);
    if (above.kind == Kind::series) {
      const Frontier& suffix = tree.suffix(model, parent, links.position[node] + 1);
      if (suffix.empty()) return kImpossible;
      ms += suffix.fastest_ms();
      continue;
    }
    std::vector<double> times;
    for (const SeriesParallelTree::Index child : children) {
      if (tree.of(model, child).empty()) return kImpossible;
      times.push_back(child == node ? ms : tree.of(model, child).fastest_ms());
    }
    if (above.kind == Kind::parallel) {
      std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(above.needed - 1), times.end());
      ms = times[above.needed - 1];
    } else {
      const IrregularRegion region(model.tree, parent);
      const std::vector<bool> done = region.before(links.position[node]);
      for (std::size_t i = 0; i < times.size(); ++i) times[i] = done[i] ? 0 : times[i];
      std::vector<double> finish(times.size());
      ms = region.finish(times, finish);
    }
  }
  return ms;
}

}  // namespace sluice::plan
