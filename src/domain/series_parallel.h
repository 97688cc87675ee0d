// The series-parallel decomposition of a workflow: the tree over which planning folds (plan/frontier).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "domain/graph.h"

namespace sluice {

// A tree in one vector; children of a node are contiguous in `children`. The root is the last node.
struct SeriesParallelTree {
  enum class Kind : std::uint8_t {
    stage,      // a leaf: one stage
    empty,      // a leaf: a direct edge beside other branches; takes no time and costs nothing
    series,     // children one after the other
    parallel,   // children at the same time; `needed` of them must finish
    irregular,  // branches share stages: children are the maximal regular parts, in topological order; `edges` joins them
  };
  using Index = std::uint32_t;
  struct Edge {  // of an irregular region: child `from` must finish before child `to` starts
    Index from, to;
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  struct Node {
    Kind kind = Kind::stage;
    Graph::Node stage = 0;            // stage: which; parallel: the stage that joins, kNone at the end of the workflow
    std::uint32_t needed = 0;         // parallel: children that must finish (all of them unless the join says less)
    std::uint32_t first_child = 0, child_count = 0;
    std::uint32_t first_edge = 0, edge_count = 0;  // irregular
  };
  std::vector<Node> nodes;
  std::vector<Index> children;
  std::vector<Edge> edges;  // of an irregular node, `from` and `to` count its children from 0

  [[nodiscard]] Index root() const { return static_cast<Index>(nodes.size() - 1); }
  [[nodiscard]] std::span<const Index> children_of(const Node& node) const {
    return {children.data() + node.first_child, node.child_count};
  }
  [[nodiscard]] std::span<const Edge> edges_of(const Node& node) const {
    return {edges.data() + node.first_edge, node.edge_count};
  }
  [[nodiscard]] bool regular() const;  // no irregular node
};

// `needed[v]` is how many predecessors node v waits for (Join::needed); absent (empty): all.
// REQUIRES: graph.size() > 0. Near-linear in edges; no recursion, so that deep workflows do not exhaust the stack.
[[nodiscard]] SeriesParallelTree series_parallel(const Graph& graph, const std::vector<std::uint32_t>& needed = {});

}  // namespace sluice
