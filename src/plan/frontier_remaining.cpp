// What is left of a part of the workflow that has begun.
#include <algorithm>
#include <map>

#include "plan/frontier_rest.h"
#include "plan/irregular_frontier.h"

namespace sluice::plan {
namespace {

using Index = SeriesParallelTree::Index;
using Kind = SeriesParallelTree::Kind;

constexpr std::size_t kQueryPointsMax = 512;

class Remaining {
 public:
  Remaining(const WorkflowModel& model, const FrontierTree& tree, const Progress& progress)
      : model_(model), tree_(tree), progress_(progress) {}

  Frontier of(Index root) {
    std::vector<Index> order = {root};  // parents before children
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto children = model_.tree.children_of(model_.tree.nodes[order[i]]);
      order.insert(order.end(), children.begin(), children.end());
    }
    std::reverse(order.begin(), order.end());
    for (const Index node : order) fold(node);
    return get(root);
  }

 private:
  // Nodes none of whose stages has begun keep the frontier of the tree.
  const Frontier& get(Index node) const {
    const auto it = begun_.find(node);
    return it == begun_.end() ? tree_.of(model_, node) : it->second;
  }

  void fold(Index index) {
    const SeriesParallelTree::Node& node = model_.tree.nodes[index];
    if (node.kind == Kind::stage) {
      const Progress::Of& of = progress_.stages[node.stage];
      if (of.state == Progress::State::done) begun_[index] = nothing_to_do();
      if (of.state == Progress::State::running)
        begun_[index] = Frontier({{.ms = std::max(0.0, of.ms_left), .cost = 0}});
      return;
    }
    const auto children = model_.tree.children_of(node);
    if (std::none_of(children.begin(), children.end(), [&](Index child) { return begun_.contains(child); })) return;
    std::vector<const Frontier*> parts;
    for (const Index child : children) parts.push_back(&get(child));
    if (node.kind == Kind::series)
      begun_[index] = fold_series(parts);
    else if (node.kind == Kind::parallel)
      begun_[index] = parallel(parts, node.needed, kQueryPointsMax);
    else
      begun_[index] = irregular_frontier(IrregularRegion(model_.tree, index), parts, kQueryPointsMax).frontier;
  }

  static Frontier fold_series(const std::vector<const Frontier*>& parts) {
    Frontier out = *parts.back();
    for (std::size_t i = parts.size() - 1; i-- > 0;) out = series(*parts[i], out, kQueryPointsMax);
    return out;
  }

  const WorkflowModel& model_;
  const FrontierTree& tree_;
  const Progress& progress_;
  std::map<Index, Frontier> begun_;
};

}  // namespace

Frontier remaining(const WorkflowModel& model, const FrontierTree& tree, Index node, const Progress& progress) {
  return Remaining(model, tree, progress).of(node);
}

}  // namespace sluice::plan
