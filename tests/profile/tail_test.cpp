#include "profile/tail.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace sluice::profile {
namespace {

// `count` executions of 100 ms, of which every `every`-th (0: none) takes `times` as long.
void run(Tail& tail, int count, int every, double times, double sigma = 0) {
  Rng rng(1);
  for (int i = 1; i <= count; ++i) {
    const bool straggles = every > 0 && i % every == 0;
    tail.observe(100, sigma, 100 * (straggles ? times : 1 + sigma * rng.normal()));
  }
}

TEST(Tail, LearnsHowManyAndHowSlow) {
  Tail tail;
  run(tail, 4'000, 50, 4);
  EXPECT_NEAR(tail.stragglers().share, 0.02, 0.002);
  EXPECT_DOUBLE_EQ(tail.stragglers().times, 4);
  EXPECT_TRUE(tail.changed_since({}));
  EXPECT_FALSE(tail.changed_since({.share = 0.018, .times = 3.5}));
  EXPECT_TRUE(tail.changed_since({.share = 0.018, .times = 2}));
}

TEST(Tail, OneIsNone) {
  Tail tail;
  run(tail, 64, 64, 10);
  EXPECT_EQ(tail.stragglers(), Stragglers{});
}

TEST(Tail, NoiseIsNone) {
  for (const double sigma : {0.05, 0.2}) {
    Tail tail;
    run(tail, 20'000, 0, 1, sigma);
    EXPECT_FALSE(tail.changed_since({})) << sigma;
  }
}

// The learner's median takes some executions to follow: none of them is a straggler.
TEST(Tail, AFunctionThatBecomesSlowerHasNone) {
  Tail tail;
  run(tail, 320, 0, 1);
  run(tail, 32, 1, 3);
  run(tail, 320, 0, 1);
  EXPECT_EQ(tail.stragglers(), Stragglers{});
}

TEST(Tail, ForgetsThem) {
  Tail tail;
  run(tail, 2'000, 20, 3);
  EXPECT_GT(tail.stragglers().share, 0.03);
  run(tail, 20'000, 0, 1);
  EXPECT_EQ(tail.stragglers(), Stragglers{});
}

TEST(Tail, MicrosecondsDecideNothing) {
  Tail tail;
  for (int i = 0; i < 1'000; ++i) tail.observe(0.01, 0, i % 20 == 0 ? 0.2 : 0.01);
  EXPECT_EQ(tail.stragglers(), Stragglers{});
}

}  // namespace
}  // namespace sluice::profile
