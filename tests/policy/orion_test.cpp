#include <gtest/gtest.h>

#include "policy/stand.h"

namespace sluice::policy {
namespace {

// One slice 100 ms, two 60 ms at 1.2 times the price. P95 of one stage is 1.08225 · t.
const Rows kStage{{1, 1, 1, 100}, {1, 1, 2, 60}};

// 190 ms: P95 of two slow stages is 211.6 ms, of a fast and a slow one 169.6 ms. Both orders cost the same; the first
// stage is raised first.
TEST(Orion, PlansAllStagesWithTheFirstAndKeepsToThePlan) {
  Stand stand("orion", {kStage, kStage}, 190);
  stand.invoker(0, 8, 7).arrive(1);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,2) on 0"}));
  stand.reload();
  stand.at(150).finish();  // far too late for 100 ms, but planned is planned
  EXPECT_EQ(stand.decide(), (Starts{"s1 of 1: (1,1,1) on 0"}));
  EXPECT_EQ(stand.states(), (std::vector<std::uint64_t>{4, 0}));  // all four states, charged once
  EXPECT_EQ(stand.scheduler().counters().planned, 2u);
  EXPECT_EQ(stand.scheduler().counters().configuration_misses, 0u);
}

TEST(Orion, CountsAMissWhenThePlannedConfigurationFindsNoRoom) {
  Stand stand("orion", {kStage}, 100);  // only two slices meet it
  stand.invoker(0, 8, 3).arrive(1).arrive(2);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,2) on 0"}));
  stand.reload();
  stand.at(50).finish();  // two slices meet nothing any more, but the plan of request 2 stands
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 2: (1,1,2) on 0"}));
  EXPECT_EQ(stand.scheduler().counters().planned, 2u);
  EXPECT_EQ(stand.scheduler().counters().configuration_misses, 1u);
}

TEST(Orion, CountsAMissWhenFewerWaitThanPlanned) {
  const Rows batches{{1, 1, 1, 10}, {2, 1, 1, 12}};  // half the price for two
  Stand large("orion", {batches}, 100, {{"cap", 0}});
  large.invoker(0, 8, 7).arrive(1);
  EXPECT_EQ(large.decide(), (Starts{"s0 of 1: (2,1,1) on 0"}));
  EXPECT_EQ(large.scheduler().counters().configuration_misses, 1u);
  Stand capped("orion", {batches}, 100);
  capped.invoker(0, 8, 7).arrive(1);
  EXPECT_EQ(capped.decide(), (Starts{"s0 of 1: (1,1,1) on 0"}));
  EXPECT_EQ(capped.scheduler().counters().configuration_misses, 0u);
}

// Two requests in one batch share its plan; on their own at the second stage they are too few for it.
TEST(Orion, GivesAllOfABatchThePlanOfItsOldest) {
  const Rows batches{{1, 1, 1, 10}, {2, 1, 1, 12}};
  Stand stand("orion", {batches, batches}, 100);
  stand.invoker(0, 8, 7).arrive(1).arrive(2);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1 2: (2,1,1) on 0"}));
  stand.finish().cancel(1);
  EXPECT_EQ(stand.decide(), (Starts{"s1 of 2: (2,1,1) on 0"}));
  EXPECT_EQ(stand.scheduler().counters().configuration_misses, 1u);
}

TEST(Orion, FallsBackWhenNoMachineHoldsWhatWasPlanned) {
  Stand stand("orion", {kStage}, 100);
  stand.invoker(0, 8, 1).arrive(1);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,1) on 0"}));
  EXPECT_EQ(stand.scheduler().counters().configuration_misses, 1u);
}

// Twenty requests that finish, that are cancelled before and after they were planned: the state is as small as before.
TEST(Orion, ForgetsThePlansOfRequestsThatEnded) {
  Stand stand("orion", {kStage, kStage}, 190);
  stand.invoker(0, 8, 2);
  const auto one = [&](std::uint64_t id) {
    stand.arrive(id);
    (void)stand.decide();
    stand.arrive(id + 1000);  // planned, but finds no room
    (void)stand.decide();
    stand.cancel(id + 1000).finish();
    (void)stand.decide();
    stand.finish();
    (void)stand.decide();
  };
  one(1);
  const std::size_t size = stand.scheduler().save().size();
  for (std::uint64_t id = 2; id < 22; ++id) one(id);
  EXPECT_EQ(stand.scheduler().requests_in_system(), 0u);
  EXPECT_EQ(stand.scheduler().save().size(), size);
}

}  // namespace
}  // namespace sluice::policy
