#include <gtest/gtest.h>

#include "policy/stand.h"

namespace sluice::policy {
namespace {

// Per price of a slice: 100, 133 and 160 invocations per second of (1), (2) and (4).
const std::vector<Rows> kOne{{{1, 1, 1, 10}, {2, 1, 1, 15}, {4, 1, 1, 25}, {1, 1, 4, 4}}};

TEST(FastGshare, PrefersTheMostEfficientBatchWithinItsTime) {
  Stand slow("fast-gshare", kOne, 25);
  slow.invoker(0, 8, 7).arrive(1).arrive(2).arrive(3).arrive(4).arrive(5);
  EXPECT_EQ(slow.decide(), (Starts{"s0 of 1 2 3 4: (4,1,1) on 0", "s0 of 5: (1,1,1) on 0"}));
  Stand fast("fast-gshare", kOne, 24);
  fast.invoker(0, 8, 7).arrive(1).arrive(2).arrive(3).arrive(4);
  EXPECT_EQ(fast.decide(), (Starts{"s0 of 1 2: (2,1,1) on 0", "s0 of 3 4: (2,1,1) on 0"}));
}

TEST(FastGshare, FillsTheMachineWithTheFewestFreeSlices) {
  Stand stand("fast-gshare", kOne, 20);
  stand.invoker(0, 8, 7).invoker(1, 8, 3).invoker(2, 4, 3).invoker(3, 4, 3).arrive(1);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,1) on 2"}));  // then the fewest vCPUs, then the lowest id
}

TEST(FastGshare, TakesTheFastestWhenNothingIsFastEnough) {
  Stand stand("fast-gshare", kOne, 3);
  stand.invoker(0, 8, 7).arrive(1).arrive(2);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,4) on 0"}));  // the other waits for four slices
  stand.finish();
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 2: (1,1,4) on 0"}));
}

TEST(FastGshare, WaitsForWhatIsFastEnoughButNotForWhatNoMachineHolds) {
  Stand stand("fast-gshare", kOne, 5);  // only (1,1,4)
  stand.invoker(0, 8, 4).arrive(1).arrive(2);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,4) on 0"}));
  Stand small("fast-gshare", kOne, 5);
  small.invoker(0, 8, 3).arrive(1);
  EXPECT_EQ(small.decide(), (Starts{"s0 of 1: (1,1,1) on 0"}));
}

TEST(FastGshare, RunsNothingTooSlowWhileABatchThatIsFastEnoughOnlyLacksRoom) {
  Stand stand("fast-gshare", {{{1, 1, 1, 10}, {2, 1, 4, 9}}}, 9.5);
  stand.invoker(0, 8, 5).arrive(1).arrive(2).arrive(3).arrive(4);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1 2: (2,1,4) on 0"}));
  stand.finish();
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 3 4: (2,1,4) on 0"}));
}

// Eight vCPUs for 9 ms instead of one for 10: worth it only if vCPUs are free.
TEST(FastGshare, CountsVcpusByTheirPrice) {
  const std::vector<Rows> profile{{{1, 1, 1, 10}, {1, 8, 1, 9}}};
  for (const double weight : {1.0, 0.0}) {
    Stand stand("fast-gshare", profile, 20, {{"vcpu_price_weight", weight}});
    stand.invoker(0, 8, 7).arrive(1);
    EXPECT_EQ(stand.decide(), (Starts{weight > 0 ? "s0 of 1: (1,1,1) on 0" : "s0 of 1: (1,8,1) on 0"}));
  }
}

}  // namespace
}  // namespace sluice::policy
