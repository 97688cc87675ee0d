#include <gtest/gtest.h>

#include "policy/fixed_split.h"
#include "policy/stand.h"
#include "support/tree_builder.h"

namespace sluice::policy {
namespace {

// A single function may take the whole objective of 20 ms; a batch of several must run within half of it.
const std::vector<Rows> kOne{{{1, 1, 1, 10}, {2, 1, 1, 12}, {2, 1, 2, 9}, {4, 1, 1, 15}}};

TEST(FixedSplit, SharesAChainByMeanTimes) {
  const Application application = chain_of({{{1, 1, 1, 10}, {2, 1, 1, 30}}, {{1, 1, 1, 60}}});
  const auto profiles = plan::make_profiles(application);
  const FixedSplit split(*plan::make_model(application, *profiles));
  EXPECT_DOUBLE_EQ(split.ms(0, 160), 40);  // 20 : 60
  EXPECT_DOUBLE_EQ(split.ms(1, 160), 120);
}

TEST(FixedSplit, GivesEachBranchTheShareOfItsRegion) {
  using namespace tree_builder;
  plan::WorkflowModel model;
  for (const double ms : {10.0, 20.0, 30.0})
    model.stages.push_back({.candidates = {{.configuration = configuration(1, 1, 1), .ms = ms}}});
  model.tree = tree_of(series({stage(0), parallel({stage(1), stage(2)})}));
  const FixedSplit split(model);
  EXPECT_DOUBLE_EQ(split.ms(0, 40), 10);
  EXPECT_DOUBLE_EQ(split.ms(1, 40), 30);
  EXPECT_DOUBLE_EQ(split.ms(2, 40), 30);
}

TEST(Infless, RunsTheLargestBatchThatTakesHalfOfItsTime) {
  Stand stand("infless", kOne, 20);
  stand.invoker(0, 4, 7).arrive(1).arrive(2).arrive(3).arrive(4).arrive(5);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1 2: (2,1,2) on 0", "s0 of 3 4: (2,1,2) on 0", "s0 of 5: (1,1,2) on 0"}));
}

// (2,1,2) needs floor(2000 / (20 - 9)) = 181 requests per second to be filled in time.
TEST(Infless, RunsNoBatchThatTheArrivalsCannotFill) {
  Stand slow("infless", kOne, 20);
  slow.arrive(1);
  (void)slow.decide();
  slow.at(10).arrive(2);  // 100 per second
  (void)slow.decide();
  slow.invoker(0, 4, 7);
  EXPECT_EQ(slow.decide(), (Starts{"s0 of 1: (1,1,2) on 0", "s0 of 2: (1,1,1) on 0"}));  // the first serves 111
  Stand fast("infless", kOne, 20);
  fast.arrive(1);
  (void)fast.decide();
  fast.at(5).arrive(2);  // 200 per second
  (void)fast.decide();
  fast.invoker(0, 4, 7);
  EXPECT_EQ(fast.decide(), (Starts{"s0 of 1 2: (2,1,2) on 0"}));
}

// A running (2,1,2) serves floor(2000 / 9) = 222 a second, more than the 200 that come: nothing is left to have another
// instance for, and the least configuration takes the next one.
TEST(Infless, SubtractsWhatRunningBatchesServe) {
  for (const bool subtract : {true, false}) {
    Stand stand("infless", kOne, 20, {{"subtract", subtract ? 1 : 0}});
    stand.arrive(1);
    (void)stand.decide();
    stand.at(5).arrive(2);
    (void)stand.decide();
    stand.invoker(0, 4, 7);
    EXPECT_EQ(stand.decide(), (Starts{"s0 of 1 2: (2,1,2) on 0"}));
    EXPECT_EQ(stand.at(10).reload().arrive(3).decide(),
              (Starts{subtract ? "s0 of 3: (1,1,1) on 0" : "s0 of 3: (1,1,2) on 0"}));
    EXPECT_EQ(stand.at(15).finish_all().arrive(4).decide(), (Starts{"s0 of 4: (1,1,2) on 0"}));
  }
}

// Gaps 10 and 2 ms: the mean is 0.3 · 2 + 0.7 · 10 = 7.6 ms, 131 per second; with all weight on the newest 500.
TEST(Infless, LearnsTheRateAsAnExponentialMeanOfGaps) {
  for (const double weight : {0.3, 1.0}) {
    Stand stand("infless", kOne, 20, {{"rate_weight", weight}});
    stand.arrive(1);
    (void)stand.decide();
    stand.at(10).arrive(2);
    (void)stand.decide();
    stand.reload();
    stand.at(12).arrive(3);
    (void)stand.decide();
    stand.invoker(0, 4, 7);
    EXPECT_EQ(stand.decide().size(), weight < 1 ? 3u : 2u);
  }
}

// Leaving nothing behind beats everything: 111 / 1 on the small machine, at most 111 / 10145 on the large one.
TEST(Infless, LeavesTheSmallestFragmentHoweverMuchItUses) {
  Stand stand("infless", {{{1, 1, 1, 10}, {1, 1, 2, 9}}}, 20);
  stand.invoker(0, 4, 7).invoker(1, 1, 2).arrive(1);
  (void)stand.decide();  // no rate yet: the minimum on the first machine
  stand.arrive(2);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 2: (1,1,2) on 1"}));
}

TEST(Infless, RunsTheMinimumWhenNothingIsFastEnough) {
  Stand stand("infless", kOne, 5);
  stand.invoker(0, 4, 7).arrive(1).arrive(2);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,1) on 0", "s0 of 2: (1,1,1) on 0"}));
}

// 32 ms for two functions of equal means: the second may take 16 ms however early or late it comes.
TEST(Infless, NeverSplitsAgain) {
  Stand stand("infless", {{{1, 1, 1, 16}}, {{1, 1, 1, 18}, {1, 1, 7, 14}}}, 32);
  stand.invoker(0, 4, 7).arrive(1).arrive(2);
  (void)stand.decide();
  stand.at(31).finish().finish();
  // Seven slices meet its own 16 ms, though only 1 ms is left of the request; the other waits for them.
  EXPECT_EQ(stand.decide(), (Starts{"s1 of 1: (1,1,7) on 0"}));
}

}  // namespace
}  // namespace sluice::policy
