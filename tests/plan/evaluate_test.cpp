#include "plan/evaluate.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/tree_builder.h"

namespace sluice::plan {
namespace {

using tree_builder::chain_of;
using tree_builder::empty;
using tree_builder::irregular;
using tree_builder::parallel;
using tree_builder::parallel_needing;
using tree_builder::series;
using tree_builder::stage;
using tree_builder::tree_of;

// Stage i takes terms[i].ms and costs 10^-i, so that a sum shows what is in it.
const std::vector<StageTerms> kTerms{{10, 1}, {40, .1}, {30, .01}, {20, .001}, {7, .0001}};

TEST(Evaluate, AddsUpASeries) {
  const Totals totals = evaluate(chain_of(4), kTerms);
  EXPECT_EQ(totals.ms, 100);
  EXPECT_DOUBLE_EQ(totals.cost, 1.111);
}

TEST(Evaluate, WaitsForAsManyBranchesAsTheJoinNeedsAndPaysForAll) {
  for (const auto& [needed, ms] : {std::pair{1u, 20.}, {2u, 30.}, {3u, 40.}}) {
    const Totals totals = evaluate(tree_of(parallel_needing(needed, {stage(1), stage(2), stage(3)})), kTerms);
    EXPECT_EQ(totals.ms, ms);
    EXPECT_DOUBLE_EQ(totals.cost, .111);
  }
}

TEST(Evaluate, NestsAndLetsAnEmptyBranchPass) {
  const auto tree = tree_of(series({stage(0), parallel({series({stage(2), stage(3)}), stage(1), empty()}), stage(4)}));
  EXPECT_EQ(evaluate(tree, kTerms).ms, 10 + 50 + 7);
  EXPECT_DOUBLE_EQ(evaluate(tree, kTerms).cost, 1.1111);
  EXPECT_EQ(evaluate(tree_of(parallel_needing(1, {stage(1), empty()})), kTerms).ms, 0);
}

// 0 → 2, 0 → 3, 1 → 3, 2 → 4, 3 → 4: the heaviest path is 1, 3, 4 or 0, 2, 4 by whether 3 waits for both.
TEST(Evaluate, TakesTheLongestPathThroughAnIrregularRegion) {
  const auto region = [](std::uint32_t needed) {
    return tree_of(irregular({stage(0), stage(1), stage(2), stage(3, needed), stage(4)},
                             {{0, 2}, {0, 3}, {1, 3}, {2, 4}, {3, 4}}));
  };
  EXPECT_EQ(evaluate(region(0), kTerms).ms, 40 + 20 + 7);
  EXPECT_EQ(evaluate(region(2), kTerms).ms, 40 + 20 + 7);
  EXPECT_EQ(evaluate(region(1), kTerms).ms, 10 + 30 + 7);
  EXPECT_DOUBLE_EQ(evaluate(region(1), kTerms).cost, 1.1111);
  auto slow = kTerms;
  slow[1].ms = 1000;
  EXPECT_EQ(evaluate(region(1), slow).ms, 10 + 30 + 7);  // stage 1 runs on, but nothing waits for it
}

TEST(Evaluate, AnIrregularRegionEndsWithItsLastExit) {
  const auto tree =
      tree_of(irregular({stage(0), stage(1), series({stage(2), stage(4)}), stage(3)}, {{0, 2}, {0, 3}, {1, 3}}));
  EXPECT_EQ(evaluate(tree, kTerms).ms, 60);
}

TEST(ForeachScale, RunsInWavesAndCostsPerItem) {
  const auto scale = [](std::uint32_t n, std::uint32_t limit) {
    const StageScale s = foreach_scale(n, limit);
    return std::pair{s.ms, s.cost};
  };
  EXPECT_EQ(scale(10, 4), (std::pair{3., 10.}));
  EXPECT_EQ(scale(8, 4), (std::pair{2., 8.}));
  EXPECT_EQ(scale(10, 0), (std::pair{1., 10.}));
  EXPECT_EQ(scale(0, 0), (std::pair{0., 0.}));
  EXPECT_EQ(foreach_scale(8, 4, .25).cost, 2);
}

}  // namespace
}  // namespace sluice::plan
