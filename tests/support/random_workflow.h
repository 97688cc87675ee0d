// Workflows for tests and benchmarks: random ones by seed, and the shapes that break careless algorithms.
// All are lists of predecessors per stage; workflow_of() and graph_of() make the rest of them.
#pragma once
#include <cstddef>
#include <vector>

#include "base/rng.h"
#include "domain/graph.h"
#include "domain/workflow.h"

namespace sluice {

using Predecessors = std::vector<std::vector<Graph::Node>>;

struct LayeredShape {
  std::size_t stages = 50'000, layers = 47, widest = 10'900, inputs_max = 4;
};
// Every stage after the first layer has 1 to inputs_max inputs, the first from the layer before, the others mostly.
// Ids grow with the layers. REQUIRES: layers ≤ stages - widest + 1, and the layers can hold all stages.
[[nodiscard]] Predecessors layered_workflow(const LayeredShape& shape, Rng& rng);

// Forks of 2 to 4 branches, chains and layers such as {a, b} → {c, d}, nested; the longest path has at most 40 stages.
// REQUIRES: 1 ≤ stages ≤ 100,000.
[[nodiscard]] Predecessors series_parallel_workflow(std::size_t stages, Rng& rng);

// Each stage follows each earlier one with the same probability.
[[nodiscard]] Predecessors random_workflow(std::size_t stages, double edge_probability, Rng& rng);

[[nodiscard]] Predecessors chain(std::size_t stages);
// A fork whose one branch is a stage and whose other is a fork …, `depth` times, and all the joins.
[[nodiscard]] Predecessors nested_diamonds(std::size_t depth);
// Two chains where each stage of the first also leads to the one opposite.
[[nodiscard]] Predecessors ladder(std::size_t rungs);

// The same workflow with ids dealt anew, so that they say nothing about the order.
[[nodiscard]] Predecessors shuffled(const Predecessors& workflow, Rng& rng);

// Stages called s0, s1, … that all run function 0.
[[nodiscard]] Workflow workflow_of(const Predecessors& predecessors);
// REQUIRES: no cycle.
[[nodiscard]] Graph graph_of(const Predecessors& predecessors);

}  // namespace sluice
