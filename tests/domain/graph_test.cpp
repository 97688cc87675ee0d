#include "domain/graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_workflow.h"

namespace sluice {
namespace {

using Node = Graph::Node;
using Nodes = std::vector<Node>;

Nodes list(std::span<const Node> nodes) {
  return {nodes.begin(), nodes.end()};
}
Nodes cycle_of(const Predecessors& predecessors) {
  return std::get<Nodes>(Graph::make(predecessors));
}

TEST(Graph, ListsNeighboursAscendingAndOnce) {
  const Graph graph = graph_of({{}, {0, 0}, {1, 0, 1}, {}});
  EXPECT_EQ(list(graph.predecessors(2)), (Nodes{0, 1}));
  EXPECT_EQ(list(graph.predecessors(1)), (Nodes{0}));
  EXPECT_EQ(list(graph.successors(0)), (Nodes{1, 2}));
  EXPECT_EQ(graph.edge_count(), 3u);
  EXPECT_EQ(graph.entries(), (Nodes{0, 3}));
  EXPECT_EQ(graph.exits(), (Nodes{2, 3}));
}

TEST(Graph, OrdersReadyNodesByLowestId) {
  EXPECT_EQ(list(graph_of({{4}, {}, {0}, {1}, {}}).topological_order()), (Nodes{1, 3, 4, 0, 2}));
}

TEST(Graph, MayBeEmpty) {
  const Graph graph = graph_of({});
  EXPECT_EQ(graph.size(), 0u);
  EXPECT_TRUE(graph.entries().empty());
}

TEST(Graph, ReportsASelfLoopAsCycle) {
  EXPECT_EQ(cycle_of({{}, {0, 1}}), (Nodes{1}));
}

TEST(Graph, ReportsACycleFromItsLowestIdForward) {
  // 4 → 2 → 3 → 4, entered from 0, left to 1.
  EXPECT_EQ(cycle_of({{}, {3}, {4, 0}, {2}, {3}}), (Nodes{2, 3, 4}));
}

TEST(Graph, DoesNotMistakeWhatFollowsACycleForOne) {
  EXPECT_EQ(cycle_of({{1}, {2}, {3, 4}, {}, {5}, {4}}), (Nodes{4, 5}));
}

TEST(Graph, TakesTheEdgesOfAWorkflow) {
  const auto made = Graph::make(workflow_of({{2}, {0, 2}, {}}));
  EXPECT_EQ(list(std::get<Graph>(made).topological_order()), (Nodes{2, 0, 1}));
}

TEST(Graph, FindsARealCycleOrARealOrderInRandomGraphs) {
  Rng rng(11);
  int cycles = 0;
  for (int round = 0; round < 5'000; ++round) {
    Predecessors predecessors(1 + rng.below(8));
    for (auto& before : predecessors) {
      while (rng.chance(0.45)) before.push_back(static_cast<Node>(rng.below(predecessors.size())));
    }
    const auto has_edge = [&](Node from, Node to) {
      return std::find(predecessors[to].begin(), predecessors[to].end(), from) != predecessors[to].end();
    };
    const auto made = Graph::make(predecessors);
    if (const auto* cycle = std::get_if<Nodes>(&made)) {
      ++cycles;
      ASSERT_FALSE(cycle->empty());
      EXPECT_EQ(cycle->front(), *std::min_element(cycle->begin(), cycle->end()));
      for (std::size_t i = 0; i < cycle->size(); ++i) {
        EXPECT_TRUE(has_edge((*cycle)[i], (*cycle)[(i + 1) % cycle->size()]));
      }
      continue;
    }
    Nodes place(predecessors.size(), Graph::kNone);
    const std::span<const Node> order = std::get<Graph>(made).topological_order();
    for (Node i = 0; i < order.size(); ++i) place[order[i]] = i;
    for (Node v = 0; v < predecessors.size(); ++v) {
      ASSERT_NE(place[v], Graph::kNone);
      for (const Node before : predecessors[v]) EXPECT_LT(place[before], place[v]);
    }
  }
  EXPECT_GT(cycles, 1'000);
  EXPECT_LT(cycles, 4'000);
}

TEST(Graph, SurvivesACycleOfAHundredThousand) {
  Predecessors ring = chain(100'000);
  ring[0] = {99'999};
  EXPECT_EQ(cycle_of(ring).size(), 100'000u);
}

}  // namespace
}  // namespace sluice
