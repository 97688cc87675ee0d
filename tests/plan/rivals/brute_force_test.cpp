#include "plan/rivals/brute_force.h"

#include <gtest/gtest.h>

namespace sluice::plan {
namespace {

Candidate candidate(int batch, double ms, double cost) {
  return {.configuration = configuration(batch, 1, 1), .ms = ms, .cost = cost};
}

const std::vector<Candidates> kTwoStages{{candidate(1, 10, 5), candidate(4, 30, 1)},
                                         {candidate(1, 10, 6), candidate(2, 20, 2)}};

TEST(BruteForce, RanksAllPathsWithinTheBudget) {
  const auto paths = *brute_force({.stages = kTwoStages, .budget_ms = 40}, 9);
  EXPECT_EQ(paths, (std::vector<ChosenPath>{{30, 7, {0, 1}}, {40, 7, {1, 0}}, {20, 11, {0, 0}}}));
  EXPECT_EQ(brute_force({.stages = kTwoStages, .budget_ms = 50}, 1)->front(), (ChosenPath{50, 3, {1, 1}}));
  EXPECT_TRUE(brute_force({.stages = kTwoStages, .budget_ms = 19}, 1)->empty());
}

TEST(BruteForce, FindsTheBestOfEachFirstCandidate) {
  const auto paths = *brute_force_per_first({.stages = kTwoStages, .budget_ms = 40});
  EXPECT_EQ(paths, (std::vector<ChosenPath>{{30, 7, {0, 1}}, {40, 7, {1, 0}}}));
  EXPECT_EQ(brute_force_per_first({.stages = kTwoStages, .budget_ms = 39})->size(), 1u);
}

TEST(BruteForce, ObeysTheBatchCap) {
  EXPECT_EQ(brute_force({.stages = kTwoStages, .budget_ms = 90, .batch_cap = 2}, 1)->front().candidates,
            (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(brute_force({.stages = kTwoStages, .budget_ms = 90, .batch_cap = 0}, 1)->empty());
}

TEST(BruteForce, FindsNothingWithoutStages) {
  EXPECT_TRUE(brute_force({.stages = {}, .budget_ms = 90}, 1)->empty());
  EXPECT_TRUE(brute_force_per_first({.stages = {}, .budget_ms = 90})->empty());
}

TEST(BruteForce, RefusesABillionPathsAndSaysHowMany) {
  const std::vector<Candidates> stages(4, Candidates(256, candidate(1, 1, 1)));
  const auto result = brute_force({.stages = stages, .budget_ms = 90}, 1);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::too_large);
  EXPECT_NE(result.error().message.find("4294967296 paths of 4 stages"), std::string::npos) << result.error().message;
  EXPECT_FALSE(brute_force_per_first({.stages = stages, .budget_ms = 90}).ok());
}

}  // namespace
}  // namespace sluice::plan
