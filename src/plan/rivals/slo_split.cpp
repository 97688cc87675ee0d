#include "plan/rivals/slo_split.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace sluice::plan {
namespace {

using Kind = SeriesParallelTree::Kind;
using Node = SeriesParallelTree::Node;
using Index = SeriesParallelTree::Index;

// Nothing left to weigh takes no time, so whoever asks may have everything.
double part(double weight, double total) {
  return total > 0 ? weight / total : 1;
}

// Every node after its parent. No recursion: workflows may be deep.
std::vector<Index> parents_first(const SeriesParallelTree& tree) {
  std::vector<Index> order{tree.root()};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto children = tree.children_of(tree.nodes[order[i]]);
    order.insert(order.end(), children.begin(), children.end());
  }
  return order;
}

// The heaviest paths through an irregular region, by child and including it.
struct RegionPaths {
  std::vector<double> to_here, from_here;
};

class Splitter {
 public:
  Splitter(const SeriesParallelTree& tree, std::span<const double> weights, std::size_t group_max)
      : tree_(tree),
        weights_(weights),
        group_max_(group_max),
        weight_(tree.nodes.size()),
        share_(tree.nodes.size()),
        after_(tree.nodes.size()) {
    split_.position.assign(weights.size(), SloSplit::kNone);
    split_.group_of.assign(weights.size(), SloSplit::kNone);
    split_.group_left.assign(weights.size(), 0);
    split_.all_left.assign(weights.size(), 0);
  }

  SloSplit run() && {
    const std::vector<Index> order = parents_first(tree_);
    for (std::size_t i = order.size(); i-- > 0;) weight_[order[i]] = weigh(tree_.nodes[order[i]]);
    share_[tree_.root()] = 1;
    for (const Index i : order) distribute(i);
    return std::move(split_);
  }

 private:
  double weigh(const Node& node) const {
    const auto children = tree_.children_of(node);
    double weight = 0;
    switch (node.kind) {
      case Kind::stage:
        return weights_[node.stage];
      case Kind::empty:
        return 0;
      case Kind::series:
        return sum_of_weights(children);
      case Kind::parallel:
        for (const Index child : children) weight = std::max(weight, weight_[child]);
        return weight;
      case Kind::irregular:
        for (const double path : region_paths(node).to_here) weight = std::max(weight, path);
        return weight;
    }
    CHECK_MSG(false, "unknown kind of node");
  }

  RegionPaths region_paths(const Node& node) const {
    const auto children = tree_.children_of(node);
    std::vector<SeriesParallelTree::Edge> edges(tree_.edges_of(node).begin(), tree_.edges_of(node).end());
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
    const auto weight = [&](Index child) { return weight_[children[child]]; };
    RegionPaths paths;
    for (const Index child : children) paths.to_here.push_back(weight_[child]);
    paths.from_here = paths.to_here;
    for (const auto& e : edges) {  // children are in topological order, so `from` is final
      paths.to_here[e.to] = std::max(paths.to_here[e.to], paths.to_here[e.from] + weight(e.to));
    }
    for (auto e = edges.rbegin(); e != edges.rend(); ++e) {
      paths.from_here[e->from] = std::max(paths.from_here[e->from], weight(e->from) + paths.from_here[e->to]);
    }
    return paths;
  }

  // Hands a node's share, and the weight of what comes after it, down to its children.
  void distribute(Index index) {
    const Node& node = tree_.nodes[index];
    const auto children = tree_.children_of(node);
    switch (node.kind) {
      case Kind::empty:
        return;
      case Kind::stage:  // alone in its branch, unless its series has put it into a group
        if (split_.group_of[node.stage] == SloSplit::kNone) add_group(std::span(&index, 1), share_[index]);
        return;
      case Kind::series:
        return distribute_series(index);
      case Kind::parallel:
        for (const Index child : children) give(child, share_[index], after_[index]);
        return;
      case Kind::irregular: {
        const RegionPaths paths = region_paths(node);
        for (std::size_t i = 0; i < children.size(); ++i) {
          const double weight = weight_[children[i]];
          const double through = paths.to_here[i] + paths.from_here[i] - weight;
          give(children[i], share_[index] * part(weight, through), after_[index] + paths.from_here[i] - weight);
        }
        return;
      }
    }
  }

  void distribute_series(Index index) {
    const auto children = tree_.children_of(tree_.nodes[index]);
    double after = after_[index];
    for (std::size_t i = children.size(); i-- > 0;) {
      give(children[i], share_[index] * part(weight_[children[i]], weight_[index]), after);
      after += weight_[children[i]];
    }
    std::size_t start = 0;
    for (std::size_t i = 0; i <= children.size(); ++i) {
      const bool stage = i < children.size() && tree_.nodes[children[i]].kind == Kind::stage;
      if (stage && i - start < group_max_) continue;
      if (i > start) {
        const auto group = children.subspan(start, i - start);
        add_group(group, share_[index] * part(sum_of_weights(group), weight_[index]));
      }
      start = stage ? i : i + 1;
    }
  }

  void give(Index child, double share, double after) {
    share_[child] = share;
    after_[child] = after;
  }

  double sum_of_weights(std::span<const Index> nodes) const {
    double sum = 0;
    for (const Index node : nodes) sum += weight_[node];
    return sum;
  }

  void add_group(std::span<const Index> nodes, double share) {
    const auto first = static_cast<std::uint32_t>(split_.order.size());
    double left = 0;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const Graph::Node stage = tree_.nodes[nodes[i]].stage;
      left += weight_[nodes[i]];
      split_.group_left[stage] = left;
      split_.all_left[stage] = weight_[nodes[i]] + after_[nodes[i]];
      split_.position[stage] = first + static_cast<std::uint32_t>(i);
      split_.group_of[stage] = static_cast<std::uint32_t>(split_.groups.size());
    }
    for (const Index node : nodes) split_.order.push_back(tree_.nodes[node].stage);
    split_.groups.push_back({.first = first, .count = static_cast<std::uint32_t>(nodes.size()), .share = share});
  }

  const SeriesParallelTree& tree_;
  const std::span<const double> weights_;
  const std::size_t group_max_;
  std::vector<double> weight_, share_, after_;  // by node of the tree
  SloSplit split_;
};

}  // namespace

std::span<const Graph::Node> SloSplit::stages_left(Graph::Node stage) const {
  CHECK(group_of[stage] != kNone);
  const SloGroup& group = groups[group_of[stage]];
  return std::span(order).subspan(position[stage], group.first + group.count - position[stage]);
}

double SloSplit::budget_ms(Graph::Node stage, double remaining_ms) const {
  CHECK(group_of[stage] != kNone);
  return remaining_ms * part(group_left[stage], all_left[stage]);
}

SloSplit split_slo(const SeriesParallelTree& tree, std::span<const double> weights, std::size_t group_max) {
  CHECK(group_max >= 1 && !tree.nodes.empty());
  return Splitter(tree, weights, group_max).run();
}

}  // namespace sluice::plan
