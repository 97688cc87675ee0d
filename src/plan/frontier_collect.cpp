// The plan behind a point of a Rest: every level says which points it was made of.
#include "plan/frontier_rest.h"

namespace sluice::plan {

using Kind = SeriesParallelTree::Kind;

double Rest::path_ms(std::size_t point) const {
  if (after_[point].ms != kNotWaitedFor) return after_[point].ms;
  const Level& inner = levels_[0];
  const bool in_series = inner.from == Level::From::made && inner.suffix != nullptr;
  return in_series ? (*inner.suffix)[inner.made[point].left].ms : 0;
}

void Rest::collect(const WorkflowModel& model, std::size_t point, std::vector<ChosenStage>& out) const {
  for (std::size_t i = 0; i < depth_; ++i) {
    const Level& level = levels_[i];
    if (level.from == Level::From::after_node) continue;  // nothing but what follows the ancestor
    const Point made = level.from == Level::From::made ? level.made[point] : Point{};
    if (level.suffix != nullptr) {
      const std::size_t chosen = level.from == Level::From::made ? made.left : point;
      tree_->collect_suffix(model, level.node, level.child + 1, chosen, out);
      point = made.right;
      continue;
    }
    if (model.tree.nodes[level.node].kind == Kind::parallel)
      collect_parallel(model, level, made, out);
    else
      collect_irregular(model, level, made, out);
    point = made.left;
  }
}

void Rest::collect_parallel(const WorkflowModel& model, const Level& level, const Point& point,
                            std::vector<ChosenStage>& out) const {
  const auto children = model.tree.children_of(model.tree.nodes[level.node]);
  const double region_ms = budget_ms_ - level.after_node[point.left].ms;
  const std::size_t needed = model.tree.nodes[level.node].needed - (point.right == 1 ? 0 : 1);
  std::vector<std::size_t> chosen(level.siblings.size());
  choose_parallel(level.siblings, needed, region_ms, chosen);
  for (std::uint32_t c = 0, s = 0; c < children.size(); ++c) {
    if (c != level.child) tree_->collect(model, children[c], chosen[s++], out);
  }
}

void Rest::collect_irregular(const WorkflowModel& model, const Level& level, const Point& point,
                             std::vector<ChosenStage>& out) const {
  const auto children = model.tree.children_of(model.tree.nodes[level.node]);
  const auto chosen = tree_->choices(model, level.node, point.right);
  for (std::uint32_t c = 0; c < children.size(); ++c) {
    if (c != level.child && !level.done[c]) tree_->collect(model, children[c], chosen[c], out);
  }
}

}  // namespace sluice::plan
