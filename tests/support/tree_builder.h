// Series-parallel trees written as nested calls: tree_of(series({stage(0), parallel({stage(1), stage(2)}), stage(3)})).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "domain/series_parallel.h"

namespace sluice::tree_builder {

struct Shape {
  SeriesParallelTree::Node node;
  std::vector<Shape> children;
  std::vector<SeriesParallelTree::Edge> edges;  // irregular
};

using Kind = SeriesParallelTree::Kind;

// `needed` matters inside an irregular region only: how many predecessors the stage waits for, 0 for all.
inline Shape stage(Graph::Node id, std::uint32_t needed = 0) {
  return {{.kind = Kind::stage, .stage = id, .needed = needed}, {}, {}};
}
inline Shape empty() {
  return {{.kind = Kind::empty}, {}, {}};
}
inline Shape series(std::vector<Shape> children) {
  return {{.kind = Kind::series}, std::move(children), {}};
}
inline Shape parallel(std::vector<Shape> children) {
  const auto all = static_cast<std::uint32_t>(children.size());
  return {{.kind = Kind::parallel, .needed = all}, std::move(children), {}};
}
inline Shape parallel_needing(std::uint32_t needed, std::vector<Shape> children) {
  return {{.kind = Kind::parallel, .needed = needed}, std::move(children), {}};
}
inline Shape irregular(std::vector<Shape> children, std::vector<SeriesParallelTree::Edge> edges) {
  return {{.kind = Kind::irregular}, std::move(children), std::move(edges)};
}

inline SeriesParallelTree::Index add_to(SeriesParallelTree& tree, const Shape& shape) {
  std::vector<SeriesParallelTree::Index> children;
  for (const Shape& child : shape.children) children.push_back(add_to(tree, child));
  SeriesParallelTree::Node node = shape.node;
  node.first_child = static_cast<std::uint32_t>(tree.children.size());
  node.child_count = static_cast<std::uint32_t>(children.size());
  node.first_edge = static_cast<std::uint32_t>(tree.edges.size());
  node.edge_count = static_cast<std::uint32_t>(shape.edges.size());
  tree.children.insert(tree.children.end(), children.begin(), children.end());
  tree.edges.insert(tree.edges.end(), shape.edges.begin(), shape.edges.end());
  tree.nodes.push_back(node);
  return tree.root();
}

inline SeriesParallelTree tree_of(const Shape& shape) {
  SeriesParallelTree tree;
  add_to(tree, shape);
  return tree;
}

inline SeriesParallelTree chain_of(std::uint32_t stages) {
  std::vector<Shape> children;
  for (std::uint32_t i = 0; i < stages; ++i) children.push_back(stage(i));
  return tree_of(series(std::move(children)));
}

}  // namespace sluice::tree_builder
