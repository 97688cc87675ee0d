#include "policy/pace.h"

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

TEST(Pace, FewExecutionsAndSingleStragglersSayNothing) {
  Pace pace;
  for (int i = 0; i < 4; ++i) pace.ran(2, 5);
  EXPECT_EQ(pace.slower(), 1);
  EXPECT_EQ(pace.beside_ms(), 0);
  Pace steady;
  for (int i = 0; i < 64; ++i) steady.ran(i % 8 == 0 ? 4 : 1.02, 0.1);
  EXPECT_NEAR(steady.slower(), 1.02, 0.03);
}

TEST(Pace, AMachineThatSlowsDownIsKnownAfterAFewBatches) {
  Pace pace;
  for (int i = 0; i < 100; ++i) pace.ran(1, 0);
  int batches = 0;
  while (pace.slower() < 1.9) {
    pace.ran(2, 30);
    ASSERT_LT(++batches, 16);
  }
  EXPECT_NEAR(pace.beside_ms(), 30, 1e-9);
  for (int i = 0; i < 16; ++i) pace.ran(1, 0);
  EXPECT_EQ(pace.slower(), 1);
  EXPECT_EQ(pace.beside_ms(), 0);
}

TEST(Pace, NothingIsHeldAgainstNewPlans) {
  Pace pace;
  for (int i = 0; i < 16; ++i) pace.ran(3, 1);
  EXPECT_EQ(pace.slower(), 3);
  pace.revised();
  EXPECT_EQ(pace.slower(), 1);
  EXPECT_EQ(pace.beside_ms(), 1);  // which no plan knows
}

}  // namespace
}  // namespace sluice::policy
