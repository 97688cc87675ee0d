// Longest paths through a workflow, by a weight per node.
#pragma once
#include <vector>

#include "domain/graph.h"

namespace sluice {

struct LongestPaths {
  std::vector<double> from_entry;  // heaviest path from an entry up to and including the node
  std::vector<double> to_exit;     // heaviest path from and including the node to an exit
  double length = 0;               // heaviest path of all: the largest `to_exit` (`from_entry` may round otherwise)
  // The nodes of one heaviest path; ties: lowest id first.
  std::vector<Graph::Node> path;
};
// REQUIRES: weights.size() == graph.size(), weights ≥ 0.
[[nodiscard]] LongestPaths longest_paths(const Graph& graph, const std::vector<double>& weights);

// Number of paths from entries to exits; a double because it grows exponentially, infinite beyond 1.8e308.
[[nodiscard]] double count_paths(const Graph& graph);

}  // namespace sluice
