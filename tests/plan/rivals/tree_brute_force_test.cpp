#include "plan/rivals/tree_brute_force.h"

#include <gtest/gtest.h>

#include "plan/rivals/brute_force.h"
#include "support/random_candidates.h"
#include "support/tree_builder.h"

namespace sluice::plan {
namespace {

using tree_builder::parallel;
using tree_builder::series;
using tree_builder::stage;
using tree_builder::tree_of;

Candidate candidate(double ms, double cost) {
  return {.configuration = configuration(1, 1, 1), .ms = ms, .cost = cost};
}

TEST(TreeBruteForce, KeepsTheUndominatedAssignments) {
  const std::vector<Candidates> stages{{candidate(10, 5), candidate(20, 1)}, {candidate(10, 4), candidate(15, 3)}};
  const auto tree = tree_of(parallel({stage(0), stage(1)}));
  const auto frontier = *brute_force_frontier({.tree = tree, .stages = stages});
  ASSERT_EQ(frontier.size(), 3u);
  const std::vector<std::vector<std::uint32_t>> expected{{0, 0}, {0, 1}, {1, 1}};
  const std::vector<std::pair<double, double>> points{{10, 9}, {15, 8}, {20, 4}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(frontier[i].candidates, expected[i]);
    EXPECT_EQ(std::pair(frontier[i].totals.ms, frontier[i].totals.cost), points[i]);
  }
}

TEST(TreeBruteForce, ScalesStages) {
  const std::vector<Candidates> stages{{candidate(10, 5)}, {candidate(10, 4)}};
  const std::vector<StageScale> scales{foreach_scale(5, 2), {.cost = .25}};
  const auto tree = tree_of(series({stage(0), stage(1)}));
  const auto frontier = *brute_force_frontier({.tree = tree, .stages = stages, .scales = scales});
  ASSERT_EQ(frontier.size(), 1u);
  EXPECT_EQ(frontier[0].totals.ms, 40);
  EXPECT_EQ(frontier[0].totals.cost, 26);
}

// On chains it must say, for every budget, what the brute force over paths says.
TEST(TreeBruteForce, AgreesWithTheBruteForceOverPaths) {
  Rng rng(6);
  for (int i = 0; i < 1'000; ++i) {
    const auto chain = random_chain(rng, i % 2 == 0);
    const auto tree = tree_builder::chain_of(static_cast<std::uint32_t>(chain.size()));
    const auto frontier = *brute_force_frontier({.tree = tree, .stages = chain});
    for (const double budget : {0., 5., 10., 20., 40., 80., 160., 1e9}) {
      const auto best = *brute_force({.stages = chain, .budget_ms = budget}, 1);
      const Assignment* last = nullptr;
      for (const Assignment& a : frontier) {
        if (a.totals.ms <= budget) last = &a;
      }
      ASSERT_EQ(last != nullptr, !best.empty()) << i;
      if (last == nullptr) continue;
      ASSERT_EQ(last->totals.cost, best[0].cost) << i;
      ASSERT_EQ(last->totals.ms, best[0].ms) << i;
    }
  }
}

TEST(TreeBruteForce, IgnoresStagesOutsideTheTreeAndFindsNothingWithoutACandidate) {
  const std::vector<Candidates> stages{{}, {candidate(10, 4)}};
  const auto only_one = tree_of(stage(1)), both = tree_of(series({stage(0), stage(1)}));
  EXPECT_EQ(brute_force_frontier({.tree = only_one, .stages = stages})->size(), 1u);
  EXPECT_TRUE(brute_force_frontier({.tree = both, .stages = stages})->empty());
}

TEST(TreeBruteForce, RefusesTooManyAssignmentsAndSaysHowMany) {
  const std::vector<Candidates> stages(4, Candidates(256, candidate(1, 1)));
  const auto tree = tree_builder::chain_of(4);
  const auto result = brute_force_frontier({.tree = tree, .stages = stages});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("4294967296"), std::string::npos) << result.error().message;
}

}  // namespace
}  // namespace sluice::plan
