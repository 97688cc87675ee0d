#include "domain/paths.h"

#include <algorithm>
#include <span>

#include "base/check.h"

namespace sluice {
namespace {

using Node = Graph::Node;

// The node with the largest value; ties: the first, and so the lowest id. kNone if there are no nodes.
template <class Nodes>
Node heaviest(const Nodes& nodes, const std::vector<double>& value) {
  const auto best = std::max_element(nodes.begin(), nodes.end(), [&](Node a, Node b) { return value[a] < value[b]; });
  return best == nodes.end() ? Graph::kNone : *best;
}

}  // namespace

LongestPaths longest_paths(const Graph& graph, const std::vector<double>& weights) {
  CHECK(weights.size() == graph.size());
  LongestPaths result;
  result.from_entry = weights;
  result.to_exit = weights;
  const std::span<const Node> order = graph.topological_order();
  for (const Node v : order) {
    const Node before = heaviest(graph.predecessors(v), result.from_entry);
    if (before != Graph::kNone) result.from_entry[v] += result.from_entry[before];
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const Node after = heaviest(graph.successors(order[i]), result.to_exit);
    if (after != Graph::kNone) result.to_exit[order[i]] += result.to_exit[after];
  }
  for (Node v = heaviest(graph.entries(), result.to_exit); v != Graph::kNone;
       v = heaviest(graph.successors(v), result.to_exit)) {
    result.path.push_back(v);
  }
  if (!result.path.empty()) result.length = result.to_exit[result.path.front()];
  return result;
}

double count_paths(const Graph& graph) {
  std::vector<double> paths(graph.size(), 0);  // from entries to the node
  double total = 0;
  for (const Node v : graph.topological_order()) {
    for (const Node before : graph.predecessors(v)) paths[v] += paths[before];
    if (graph.predecessors(v).empty()) paths[v] = 1;
    if (graph.successors(v).empty()) total += paths[v];
  }
  return total;
}

}  // namespace sluice
