#include "domain/dominators.h"

#include <gtest/gtest.h>

#include "support/random_workflow.h"

namespace sluice {
namespace {

using Node = Graph::Node;
constexpr Node kNone = Dominators::kNone;

// From the definition: what can still be reached from the starts when `removed` is taken away.
std::vector<bool> reachable_without(const Graph& graph, Node removed, bool forward) {
  std::vector<bool> reached(graph.size(), false);
  std::vector<Node> open = forward ? graph.entries() : graph.exits();
  while (!open.empty()) {
    const Node v = open.back();
    open.pop_back();
    if (v == removed || reached[v]) continue;
    reached[v] = true;
    const auto next = forward ? graph.successors(v) : graph.predecessors(v);
    open.insert(open.end(), next.begin(), next.end());
  }
  return reached;
}

void expect_as_defined(const Graph& graph, const Dominators& found, bool forward) {
  std::vector<std::vector<bool>> dominates(graph.size());  // [a][v]
  for (Node a = 0; a < graph.size(); ++a) {
    dominates[a] = reachable_without(graph, a, forward);
    dominates[a].flip();
  }
  for (Node v = 0; v < graph.size(); ++v) {
    Node immediate = kNone;  // the strict dominator that all others dominate
    for (Node a = 0; a < graph.size(); ++a) {
      ASSERT_EQ(found.dominates(a, v), dominates[a][v]) << a << " " << v;
      if (a != v && dominates[a][v] && (immediate == kNone || dominates[immediate][a])) immediate = a;
    }
    ASSERT_EQ(found.immediate[v], immediate) << v;
  }
}

TEST(Dominators, OfADiamondAreItsFork) {
  const Graph graph = graph_of({{}, {0}, {0}, {1, 2}});
  EXPECT_EQ(dominators(graph).immediate, (std::vector<Node>{kNone, 0, 0, 0}));
  EXPECT_EQ(post_dominators(graph).immediate, (std::vector<Node>{3, 3, 3, kNone}));
}

TEST(Dominators, OfSeveralEntriesAreNone) {
  const Graph graph = graph_of({{}, {}, {0, 1}, {2}});
  const Dominators found = dominators(graph);
  EXPECT_EQ(found.immediate, (std::vector<Node>{kNone, kNone, kNone, 2}));
  EXPECT_TRUE(found.dominates(2, 3));
  EXPECT_TRUE(found.dominates(2, 2));
  EXPECT_FALSE(found.dominates(0, 3));
  EXPECT_FALSE(found.dominates(3, 2));
}

TEST(Dominators, AgreeWithTheDefinitionOnRandomWorkflows) {
  Rng rng(5);
  for (int round = 0; round < 10'000; ++round) {
    const std::size_t size = 1 + rng.below(12);
    const double density = rng.uniform(0.05, 0.6);
    const Graph graph = graph_of(shuffled(random_workflow(size, density, rng), rng));
    expect_as_defined(graph, dominators(graph), true);
    expect_as_defined(graph, post_dominators(graph), false);
  }
}

TEST(Dominators, AgreeWithTheDefinitionOnSeriesParallelWorkflows) {
  Rng rng(6);
  for (int round = 0; round < 100; ++round) {
    const Graph graph = graph_of(shuffled(series_parallel_workflow(1 + rng.below(60), rng), rng));
    expect_as_defined(graph, dominators(graph), true);
    expect_as_defined(graph, post_dominators(graph), false);
  }
}

TEST(Dominators, OfALongLadderAreItsFirstRung) {
  constexpr Node kRungs = 50'000;
  const Dominators found = dominators(graph_of(ladder(kRungs)));
  EXPECT_EQ(found.immediate[kRungs], 0u);
  EXPECT_EQ(found.immediate[2 * kRungs - 1], 0u);
  EXPECT_EQ(found.immediate[kRungs - 1], kRungs - 2);
}

}  // namespace
}  // namespace sluice
