#include "domain/dominators.h"

#include <span>
#include <utility>

namespace sluice {
namespace {

using Node = Graph::Node;

// The dominator tree while it grows. The root is the virtual entry, numbered after all nodes.
// Beside its parent a node knows one ancestor further up, chosen so that any ancestor is O(log depth) steps away: a
// plain walk is quadratic where two long chains are linked rung by rung.
class GrowingTree {
 public:
  explicit GrowingTree(std::size_t size)
      : root_(static_cast<Node>(size)), parent_(size + 1, root_), jump_(size + 1, root_), depth_(size + 1, 0) {}

  [[nodiscard]] Node root() const { return root_; }

  void add(Node v, Node parent) {
    const Node far = jump_[parent];
    parent_[v] = parent;
    depth_[v] = depth_[parent] + 1;
    const bool equal_jumps = depth_[parent] - depth_[far] == depth_[far] - depth_[jump_[far]];
    jump_[v] = equal_jumps ? jump_[far] : parent;
  }

  // The deepest common ancestor.
  [[nodiscard]] Node meet(Node a, Node b) const {
    if (depth_[a] < depth_[b]) std::swap(a, b);
    while (depth_[a] > depth_[b]) a = depth_[jump_[a]] >= depth_[b] ? jump_[a] : parent_[a];
    while (a != b) {  // equal depths jump equally far
      const bool beyond = jump_[a] == jump_[b];
      a = beyond ? parent_[a] : jump_[a];
      b = beyond ? parent_[b] : jump_[b];
    }
    return a;
  }

 private:
  Node root_;
  std::vector<Node> parent_, jump_;
  std::vector<std::uint32_t> depth_;
};

// Preorder numbers without recursion: subtree sizes from the leaves up, then places from the root down.
void number(Dominators& result, const std::vector<Node>& order) {
  const std::size_t size = order.size();
  std::vector<std::uint32_t> subtree(size, 1), next(size + 1, 0);
  const auto parent = [&](Node v) { return result.immediate[v] == Graph::kNone ? size : result.immediate[v]; };
  for (std::size_t i = size; i-- > 0;) {
    const std::size_t above = parent(order[i]);
    if (above < size) subtree[above] += subtree[order[i]];
  }
  result.enter.resize(size);
  result.leave.resize(size);
  for (const Node v : order) {
    std::uint32_t& place = next[parent(v)];
    result.enter[v] = place;
    result.leave[v] = place + subtree[v];
    next[v] = place + 1;
    place += subtree[v];
  }
}

// REQUIRES: `order` has before(v) before v.
template <class Before>
Dominators grow(const std::vector<Node>& order, Before before) {
  GrowingTree tree(order.size());
  Dominators result;
  result.immediate.resize(order.size());
  for (const Node v : order) {
    const std::span<const Node> list = before(v);
    Node common = list.empty() ? tree.root() : list.front();
    for (const Node p : list) common = tree.meet(common, p);
    tree.add(v, common);
    result.immediate[v] = common == tree.root() ? Graph::kNone : common;
  }
  number(result, order);
  return result;
}

}  // namespace

Dominators dominators(const Graph& graph) {
  const std::span<const Node> order = graph.topological_order();
  return grow({order.begin(), order.end()}, [&](Node v) { return graph.predecessors(v); });
}

Dominators post_dominators(const Graph& graph) {
  const std::span<const Node> order = graph.topological_order();
  return grow({order.rbegin(), order.rend()}, [&](Node v) { return graph.successors(v); });
}

}  // namespace sluice
