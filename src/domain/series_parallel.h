// The series-parallel decomposition of a workflow: the tree over which planning folds (plan/frontier).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "domain/graph.h"

namespace sluice {

// A tree in one vector: children come before their parent, the leaf of stage v is nodes[v], the root is the last node.
// Children of a node are contiguous in `children`. Every stage is one leaf.
//
// The tree says what the graph says: a stage comes before another in the tree exactly if the graph leads from one to
// the other, and folding start times over it gives every stage the start it has in the graph.
struct SeriesParallelTree {
  enum class Kind : std::uint8_t {
    stage,      // a leaf: one stage
    empty,      // a leaf: a direct edge beside other branches; takes no time and costs nothing
    series,     // children one after the other; none is empty or a series
    parallel,   // children at the same time; `needed` of them must finish. By lowest stage, an empty one last
    irregular,  // branches share stages: children are the maximal regular parts in topological order, joined by
                // `edges`; `needed` of those that no edge leaves must finish
  };
  using Index = std::uint32_t;
  struct Edge {  // of an irregular region: child `from` finishes before child `to` starts, unless `to` needs fewer
    Index from, to;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  struct Node {
    Kind kind = Kind::stage;
    // stage: which; parallel, irregular: the stage that joins (the lowest of those that start next), kNone at the end
    // of the workflow.
    Graph::Node stage = 0;
    // parallel, irregular: as above, all of them unless the join says less; stage: the predecessors it waits for if not
    // all, else 0. The latter counts only inside an irregular region: elsewhere the parallel before the stage says it.
    std::uint32_t needed = 0;
    std::uint32_t first_child = 0, child_count = 0;
    std::uint32_t first_edge = 0, edge_count = 0;  // irregular; sorted
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
  // A stage with which the subtree starts; kNone for an empty one. O(height).
  [[nodiscard]] Graph::Node first_stage(Index index) const;
  // How many of the `edges_into` a child of an irregular region it waits for: all, unless the stages it starts with
  // need fewer. Then every edge stands for one of their predecessors, and an empty child for one before the region.
  [[nodiscard]] std::size_t needed_to_start(Index child, std::size_t edges_into) const;

 private:
  [[nodiscard]] const Node& first_leaf(Index index) const;
};

// `needed[v]` is how many predecessors node v waits for (Join::needed); absent (empty): all.
// A join that needs fewer is a `parallel` if its predecessors' branches come from one fork and go nowhere else, each
// being one child; otherwise the region up to it is irregular. A direct edge beside a longer way becomes an empty
// branch where it can; an edge that says nothing new and only spoils a regular region is left out.
//
// REQUIRES: graph.size() > 0; `needed` is empty or has an entry per node, at least 1 where there are predecessors.
// O(edges · log edges). Recursion is never deeper than log(edges): deep workflows do not exhaust the stack.
//
// Caveat: in irregular regions of more than 4,094 junctions (starts and ends of stages) edges that say nothing new stay
// and may keep parts irregular, since finding them takes quadratic space.
[[nodiscard]] SeriesParallelTree series_parallel(const Graph& graph, const std::vector<std::uint32_t>& needed = {});

}  // namespace sluice
