#include "domain/series_parallel.h"

#include <algorithm>

#include "base/check.h"
#include "domain/series_parallel/network.h"
#include "domain/series_parallel/parts.h"
#include "domain/series_parallel/regions.h"

namespace sluice {

bool SeriesParallelTree::regular() const {
  return std::none_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.kind == Kind::irregular; });
}

const SeriesParallelTree::Node& SeriesParallelTree::first_leaf(Index index) const {
  while (nodes[index].child_count > 0) index = children_of(nodes[index]).front();
  return nodes[index];
}

Graph::Node SeriesParallelTree::first_stage(Index index) const {
  return first_leaf(index).stage;
}

std::size_t SeriesParallelTree::needed_to_start(Index child, std::size_t edges_into) const {
  const Node& leaf = first_leaf(child);
  return leaf.needed == 0 ? edges_into : std::min<std::size_t>(leaf.needed, edges_into);
}

SeriesParallelTree series_parallel(const Graph& graph, const std::vector<std::uint32_t>& needed) {
  CHECK(graph.size() > 0);
  CHECK(needed.empty() || needed.size() == graph.size());
  std::vector<std::uint32_t> fewer(graph.size(), 0);  // predecessors a stage waits for if not all, else 0
  for (Graph::Node v = 0; v < needed.size(); ++v) {
    if (needed[v] >= graph.predecessors(v).size()) continue;
    CHECK(needed[v] > 0);
    fewer[v] = needed[v];
  }
  reduction::Parts parts(fewer);
  reduction::Network network(graph, fewer, parts);
  network.reduce();
  reduction::Regions(network, parts).contract_all();
  return parts.finish();
}

}  // namespace sluice
