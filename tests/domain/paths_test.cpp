#include "domain/paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/random_workflow.h"

namespace sluice {
namespace {

using Node = Graph::Node;
using Nodes = std::vector<Node>;

// Every path from an entry to an exit, in lexicographic order.
std::vector<Nodes> all_paths(const Graph& graph) {
  std::vector<Nodes> paths;
  Nodes path;
  const std::function<void(Node)> walk = [&](Node v) {
    path.push_back(v);
    if (graph.successors(v).empty()) paths.push_back(path);
    for (const Node next : graph.successors(v)) walk(next);
    path.pop_back();
  };
  for (const Node entry : graph.entries()) walk(entry);
  return paths;
}

TEST(LongestPaths, TakeTheHeavierBranch) {
  const LongestPaths found = longest_paths(graph_of({{}, {0}, {0}, {1, 2}, {}}), {1, 2, 5, 3, 4});
  EXPECT_EQ(found.length, 9);
  EXPECT_EQ(found.path, (Nodes{0, 2, 3}));
  EXPECT_EQ(found.from_entry, (std::vector<double>{1, 3, 6, 9, 4}));
  EXPECT_EQ(found.to_exit, (std::vector<double>{9, 5, 8, 3, 4}));
}

TEST(LongestPaths, BreakTiesByLowestId) {
  EXPECT_EQ(longest_paths(graph_of({{}, {2}, {}, {2}, {1, 3}, {0}}), {1, 1, 1, 1, 0, 1}).path, (Nodes{0, 5}));
  EXPECT_EQ(longest_paths(graph_of({{}, {2}, {}, {2}, {1, 3}}), {1, 1, 1, 1, 0}).path, (Nodes{2, 1, 4}));
}

TEST(LongestPaths, OfNothingAreEmpty) {
  const LongestPaths found = longest_paths(graph_of({}), {});
  EXPECT_EQ(found.length, 0);
  EXPECT_TRUE(found.path.empty());
}

TEST(LongestPaths, AgreeWithAllPathsOfRandomWorkflows) {
  Rng rng(8);
  for (int round = 0; round < 3'000; ++round) {
    const Graph graph = graph_of(shuffled(random_workflow(1 + rng.below(9), rng.uniform(), rng), rng));
    std::vector<double> weights(graph.size());
    for (double& weight : weights) weight = static_cast<double>(rng.below(4));  // whole, so that sums are exact
    const std::vector<Nodes> paths = all_paths(graph);
    std::vector<double> from_entry(graph.size(), 0), to_exit(graph.size(), 0);
    double length = -1;
    Nodes longest;
    for (const Nodes& path : paths) {
      double total = 0, done = 0;
      for (const Node v : path) total += weights[v];
      for (const Node v : path) {
        to_exit[v] = std::max(to_exit[v], total - done);
        done += weights[v];
        from_entry[v] = std::max(from_entry[v], done);
      }
      if (total > length) {
        length = total;
        longest = path;
      }
    }
    const LongestPaths found = longest_paths(graph, weights);
    EXPECT_EQ(found.from_entry, from_entry);
    EXPECT_EQ(found.to_exit, to_exit);
    EXPECT_EQ(found.length, length);
    EXPECT_EQ(found.path, longest);
    EXPECT_EQ(count_paths(graph), static_cast<double>(paths.size()));
  }
}

TEST(CountPaths, GrowsBeyondIntegersAndThenToInfinity) {
  const auto diamonds = [](std::size_t count) {  // one after the other
    Predecessors result(1);
    for (std::size_t i = 0; i < count; ++i) {
      const auto fork = static_cast<Node>(result.size() - 1);
      result.push_back({fork});
      result.push_back({fork});
      result.push_back({fork + 1, fork + 2});
    }
    return graph_of(result);
  };
  EXPECT_EQ(count_paths(diamonds(100)), std::ldexp(1.0, 100));
  EXPECT_TRUE(std::isinf(count_paths(diamonds(2'000))));
  EXPECT_EQ(count_paths(graph_of({})), 0);
}

}  // namespace
}  // namespace sluice
