// Dominators and post-dominators of a workflow: where every path must pass. Used by SLO groups and `sluice check`.
#pragma once
#include <cstdint>
#include <vector>

#include "domain/graph.h"

namespace sluice {

// immediate[v] is the last node that every path from an entry to v passes before v; kNone if only the virtual entry
// does. One pass in topological order (a DAG needs no iteration): O(edges · log depth).
struct Dominators {
  static constexpr Graph::Node kNone = Graph::kNone;
  std::vector<Graph::Node> immediate;
  // Node v is the enter[v]-th of the tree in preorder and its subtree ends before the leave[v]-th.
  std::vector<std::uint32_t> enter, leave;
  // O(1). A node dominates itself. REQUIRES: a and v are nodes.
  [[nodiscard]] bool dominates(Graph::Node a, Graph::Node v) const {
    return enter[a] <= enter[v] && enter[v] < leave[a];
  }
};

[[nodiscard]] Dominators dominators(const Graph& graph);
// The same with edges turned round: immediate[v] is the first node every path from v to an exit passes after v.
[[nodiscard]] Dominators post_dominators(const Graph& graph);

}  // namespace sluice
