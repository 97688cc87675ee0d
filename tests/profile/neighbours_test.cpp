#include "profile/neighbours.h"

#include <gtest/gtest.h>

namespace sluice::profile {
namespace {

TEST(Neighbours, AreTheMeanOfWhatWasSeen) {
  Neighbours neighbours;
  for (const double share : {0.0, 0.5, 1.0, 0.5}) neighbours.observe(1, share);
  EXPECT_DOUBLE_EQ(neighbours.share(1), 0.5);
}

// Batches on the whole GPU have no neighbours, and say nothing of those of small ones.
TEST(Neighbours, AreOfANumberOfSlices) {
  Neighbours neighbours;
  for (int i = 0; i < 100; ++i) {
    neighbours.observe(7, 0);
    neighbours.observe(1, 1);
  }
  EXPECT_EQ(neighbours.share(7), 0);
  EXPECT_EQ(neighbours.share(1), 1);
}

TEST(Neighbours, AreNoneForANumberOfSlicesThatNeverRan) {
  Neighbours neighbours;
  neighbours.observe(4, 1);
  EXPECT_EQ(neighbours.share(2), 0);
  EXPECT_EQ(neighbours.share(0), 0);
}

TEST(Neighbours, WhatWasSeenLongAgoIsForgotten) {
  Neighbours neighbours;
  for (int i = 0; i < 10'000; ++i) neighbours.observe(1, 1);
  for (int i = 0; i < 1'000; ++i) neighbours.observe(1, 0);
  EXPECT_LT(neighbours.share(1), 0.03);
}

}  // namespace
}  // namespace sluice::profile
