// Trees of workflows small enough to draw; properties of random ones are in series_parallel_property_test.cpp.
#include "domain/series_parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "base/text.h"
#include "support/random_workflow.h"

namespace sluice {
namespace {

using Tree = SeriesParallelTree;
using Needed = std::vector<std::uint32_t>;

// "series(0, parallel(1, -), 2)"; - is an empty branch, "parallel/1" needs one of its children, and edges of an
// irregular region follow its children: "irregular(0, 1; 0>1)".
std::string text(const Tree& tree, Tree::Index index) {
  const Tree::Node& node = tree.nodes[index];
  if (node.kind == Tree::Kind::stage) return str(node.stage);
  if (node.kind == Tree::Kind::empty) return "-";
  std::string list;
  for (const Tree::Index child : tree.children_of(node)) list += str(list.empty() ? "" : ", ", text(tree, child));
  if (node.kind == Tree::Kind::series) return str("series(", list, ")");
  if (node.kind == Tree::Kind::parallel) {
    const std::string count = node.needed < node.child_count ? str("/", node.needed) : "";
    return str("parallel", count, "(", list, ")");
  }
  std::string edges;
  for (const Tree::Edge& edge : tree.edges_of(node)) edges += str(" ", edge.from, ">", edge.to);
  return str("irregular/", node.needed, "(", list, ";", edges, ")");
}

std::string decompose(const Predecessors& predecessors, const Needed& needed = {}) {
  const Tree tree = series_parallel(graph_of(predecessors), needed);
  return text(tree, tree.root());
}

TEST(SeriesParallel, KeepsASingleStage) {
  EXPECT_EQ(decompose({{}}), "0");
}

TEST(SeriesParallel, FlattensAChain) {
  EXPECT_EQ(decompose({{3}, {2}, {}, {1}}), "series(2, 1, 3, 0)");
}

TEST(SeriesParallel, PutsUnconnectedStagesInParallel) {
  EXPECT_EQ(decompose({{}, {}, {}}), "parallel(0, 1, 2)");
}

TEST(SeriesParallel, FindsAForkAndItsJoin) {
  EXPECT_EQ(decompose({{}, {0}, {0}, {0}, {1, 2, 3}}), "series(0, parallel(1, 2, 3), 4)");
}

TEST(SeriesParallel, JoinsSeveralEntriesAndExits) {
  EXPECT_EQ(decompose({{}, {}, {0, 1}, {2}, {2}}), "series(parallel(0, 1), 2, parallel(3, 4))");
}

TEST(SeriesParallel, TakesLayersAsASeriesOfParallels) {
  EXPECT_EQ(decompose({{}, {}, {0, 1}, {0, 1}, {2, 3}, {2, 3}}),
            "series(parallel(0, 1), parallel(2, 3), parallel(4, 5))");
}

TEST(SeriesParallel, NestsForks) {
  EXPECT_EQ(decompose(nested_diamonds(2)), "series(0, parallel(series(1, parallel(3, 4), 5), 2), 6)");
}

TEST(SeriesParallel, OrdersBranchesByLowestStage) {
  EXPECT_EQ(decompose({{5}, {6}, {5}, {2}, {0, 1, 3}, {}, {5}}),
            "series(5, parallel(0, series(6, 1), series(2, 3)), 4)");
}

TEST(SeriesParallel, MakesADirectEdgeAnEmptyBranch) {
  EXPECT_EQ(decompose({{}, {0}, {0, 1}}), "series(0, parallel(1, -), 2)");
  EXPECT_EQ(decompose({{}, {0}, {0, 1}, {0, 2}}), "series(0, parallel(series(parallel(1, -), 2), -), 3)");
}

TEST(SeriesParallel, LeavesOutADirectEdgeThatWouldSpoilALayer) {
  // {1, 2} → {3, 4} between 0 and 5; 0 → 3 and 1 → 5 say nothing new.
  EXPECT_EQ(decompose({{}, {0}, {0}, {0, 1, 2}, {1, 2}, {1, 3, 4}}), "series(0, parallel(1, 2), parallel(3, 4), 5)");
}

TEST(SeriesParallel, CallsABridgeIrregular) {
  EXPECT_EQ(decompose({{}, {0}, {0}, {1}, {1, 2}, {3, 4}}), "series(0, irregular/2(1, 2, 3, 4; 0>2 0>3 1>3), 5)");
}

TEST(SeriesParallel, KeepsRegularPartsOfAnIrregularRegion) {
  // As above with 1 → {6, 7} → 3 for 1 → 3 and 8 behind 4.
  EXPECT_EQ(decompose({{}, {0}, {0}, {6, 7}, {1, 2}, {3, 8}, {1}, {1}, {4}}),
            "series(0, irregular/2(1, 2, series(parallel(6, 7), 3), series(4, 8); 0>2 0>3 1>3), 5)");
}

TEST(SeriesParallel, KeepsAnIrregularRegionApartFromBranchesBesideIt) {
  // 0 forks to a bridge (1 … 4), behind which comes 5, and to 6; 7 joins.
  EXPECT_EQ(decompose({{}, {0}, {0}, {1}, {1, 2}, {3, 4}, {0}, {5, 6}}),
            "series(0, parallel(series(irregular/2(1, 2, 3, 4; 0>2 0>3 1>3), 5), 6), 7)");
}

TEST(SeriesParallel, NestsIrregularRegions) {
  // The bridge 0 … 3 stands for the first stage of the bridge 4, 5, 6.
  EXPECT_EQ(decompose({{}, {}, {0}, {0, 1}, {}, {2, 3}, {2, 3, 4}}),
            "irregular/2(irregular/2(0, 1, 2, 3; 0>2 0>3 1>3), 4, 5, 6; 0>2 0>3 1>3)");
}

TEST(SeriesParallel, KnowsTheStageThatJoins) {
  const Tree tree = series_parallel(graph_of({{}, {}, {0, 1}, {2}, {2}, {3, 4, 6}, {2}}));
  std::vector<Graph::Node> joins;
  for (const Tree::Node& node : tree.nodes) {
    if (node.kind == Tree::Kind::parallel) joins.push_back(node.stage);
  }
  std::sort(joins.begin(), joins.end());
  EXPECT_EQ(joins, (std::vector<Graph::Node>{2, 5}));
  const Tree open = series_parallel(graph_of({{}, {0}, {0}}));
  EXPECT_EQ(open.nodes[open.nodes.size() - 2].stage, Graph::kNone);
}

TEST(SeriesParallel, CountsTheBranchesOfAForkThatAJoinNeeds) {
  EXPECT_EQ(decompose({{}, {0}, {0}, {2}, {1, 3}}, {0, 1, 1, 1, 1}), "series(0, parallel/1(1, series(2, 3)), 4)");
  EXPECT_EQ(decompose({{}, {}, {}, {0, 1, 2}}, {0, 0, 0, 2}), "series(parallel/2(0, 1, 2), 3)");
}

TEST(SeriesParallel, CountsADirectEdgeThatAJoinNeeds) {
  EXPECT_EQ(decompose({{}, {0}, {0}, {0, 1, 2}}, {0, 1, 1, 2}), "series(0, parallel/2(1, 2, -), 3)");
}

TEST(SeriesParallel, DoesNotMixBranchesOfDifferentJoins) {
  // 3 needs one of 1 and 2; 4 needs 3 and 5. Were 1, 2, 5 one parallel, the count would be lost.
  EXPECT_EQ(decompose({{}, {0}, {0}, {1, 2}, {3, 5}, {0}}, {0, 1, 1, 1, 2, 1}),
            "series(0, parallel(series(parallel/1(1, 2), 3), 5), 4)");
}

TEST(SeriesParallel, IsIrregularUpToAJoinWhoseBranchesGoElsewhere) {
  // 3 needs one of 1 and 2, but 1 also leads to 4.
  EXPECT_EQ(decompose({{}, {0}, {0}, {1, 2}, {1}, {3, 4}}, {0, 1, 1, 1, 1, 2}),
            "series(0, irregular/2(1, 2, 3, 4; 0>2 0>3 1>2), 5)");
}

TEST(SeriesParallel, CountsTheEndsOfAnIrregularRegion) {
  // A bridge 1 … 4 whose join 5 needs one of 3, 4 and the fork itself.
  EXPECT_EQ(decompose({{}, {0}, {0}, {1}, {1, 2}, {0, 3, 4}}, {0, 1, 1, 1, 2, 1}),
            "series(0, irregular/1(1, 2, 3, 4, -; 0>2 0>3 1>3), 5)");
  // The same where two stages join, and another irregular region follows.
  EXPECT_EQ(decompose({{}, {0}, {0}, {1}, {1, 2}, {3, 4}, {3, 4}, {5}, {5, 6}}, {0, 1, 1, 1, 2, 1, 1, 1, 2}),
            "series(0, irregular/1(1, 2, 3, 4; 0>2 0>3 1>3), irregular/2(5, 6, 7, 8; 0>2 0>3 1>3))");
}

TEST(SeriesParallel, KnowsWithWhatAChildStarts) {
  // 0 and 1 lead to 2, 3 and 4; the latter two, side by side, need one of 0, 1 and 5, which 6 waits for as well.
  const Tree tree = series_parallel(graph_of({{}, {}, {0, 1}, {0, 1, 5}, {0, 1, 5}, {}, {5}}), {0, 0, 2, 1, 1, 0, 1});
  ASSERT_EQ(text(tree, tree.root()), "irregular/3(0, 1, 2, 5, parallel(3, 4), 6; 0>2 0>4 1>2 1>4 3>4 3>5)");
  const auto children = tree.children_of(tree.nodes[tree.root()]);
  EXPECT_EQ(tree.first_stage(children[4]), 3u);
  EXPECT_EQ(tree.needed_to_start(children[4], 3), 1u);
  EXPECT_EQ(tree.needed_to_start(children[2], 2), 2u);
}

TEST(SeriesParallel, SaysWhetherATreeIsRegular) {
  EXPECT_TRUE(series_parallel(graph_of(nested_diamonds(3))).regular());
  EXPECT_FALSE(series_parallel(graph_of(ladder(3))).regular());
}

TEST(SeriesParallel, GivesTheSameTreeEverywhere) {
  Rng rng(9);
  const Tree tree = series_parallel(graph_of(layered_workflow({.stages = 5'000, .layers = 20, .widest = 900}, rng)));
  Hash hash;
  for (const Tree::Node& node : tree.nodes) {
    hash.add(static_cast<int>(node.kind));
    hash.add(node.stage);
    hash.add(node.needed);
    hash.add(node.child_count);
    hash.add(node.edge_count);
  }
  for (const Tree::Index child : tree.children) hash.add(child);
  for (const Tree::Edge& edge : tree.edges) hash.add(std::uint64_t{edge.from} << 32 | edge.to);
  EXPECT_EQ(hash.value(), 0x1aedcf37c6ea4e92u) << std::hex << hash.value();
}

TEST(SeriesParallel, SurvivesDepth) {
  const Tree line = series_parallel(graph_of(chain(100'000)));
  EXPECT_EQ(line.nodes.back().child_count, 100'000u);
  EXPECT_TRUE(series_parallel(graph_of(nested_diamonds(30'000))).regular());
  EXPECT_FALSE(series_parallel(graph_of(ladder(30'000))).regular());
}

}  // namespace
}  // namespace sluice
