// Dominators and post-dominators of a workflow.
#pragma once
#include <vector>

#include "domain/graph.h"

namespace sluice {

// immediate[v] is the last node that every path from an entry to v passes before v; kNone if only the virtual entry
// does. One pass in topological order (a DAG needs no iteration): O(edges · log depth) or better.
struct Dominators {
  static constexpr Graph::Node kNone = ~Graph::Node{0};
  std::vector<Graph::Node> immediate;
  // REQUIRES: a and v are nodes. A node dominates itself.
  [[nodiscard]] bool dominates(Graph::Node a, Graph::Node v) const;
};

[[nodiscard]] Dominators dominators(const Graph& graph);
// The same with edges turned round: immediate[v] is the first node every path from v to an exit passes after v.
[[nodiscard]] Dominators post_dominators(const Graph& graph);

}  // namespace sluice
