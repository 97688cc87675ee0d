#include "policy/headroom.h"

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

constexpr double kTolerated = 1.0 / 80;

Time at(double ms) {
  return Time::from_ns(Duration::ms(ms).count_ns());
}

TEST(Headroom, IsWholeWhileNobodyWaitsItselfLate) {
  Headroom room;
  for (int i = 0; i < 1'000; ++i) room.ended(at(i), at(i + 100), false, kTolerated);
  EXPECT_EQ(room.share(), 1);
}

TEST(Headroom, StaysWhereItIsWithOneOfEighty) {
  Headroom room;
  double least = 1, most = 0;
  for (int i = 0; i < 8'000; ++i) {
    room.ended(at(10 * i), at(10 * i + 100), i % 80 == 0, kTolerated);
    if (i < 4'000) continue;
    least = std::min(least, room.share());
    most = std::max(most, room.share());
  }
  EXPECT_GT(least, 0.85);
  EXPECT_GT(most, 0.95);
}

TEST(Headroom, GivesWayToMoreOfThemWhereMoreAreTolerated) {
  const auto settled = [](double tolerated) {
    Headroom room;
    for (int i = 0; i < 8'000; ++i) room.ended(at(10 * i), at(10 * i + 100), i % 40 == 0, tolerated);
    return room.share();
  };
  EXPECT_LT(settled(1.0 / 80), 0.5);
  EXPECT_GT(settled(1.0 / 20), 0.85);
}

TEST(Headroom, IsNeverLessThanAThirdAndComesBack) {
  Headroom room;
  for (int i = 0; i < 1'000; ++i) room.ended(at(100 * i), at(100 * i + 100), true, kTolerated);
  EXPECT_NEAR(room.share(), 0.3, 1e-9);
  for (int i = 1'000; i < 1'800; ++i) room.ended(at(100 * i), at(100 * i + 100), false, kTolerated);
  EXPECT_EQ(room.share(), 1);
}

// A hundred were let in before the first of them was late: they say the same thing once.
TEST(Headroom, WhoWasLetInBeforeTheChangeCountsLittle) {
  Headroom room;
  for (int i = 0; i < 100; ++i) room.ended(at(i), at(200 + i), true, kTolerated);
  EXPECT_GT(room.share(), 0.7);
  EXPECT_LT(room.share(), 0.8);
  room.ended(at(250), at(450), true, kTolerated);  // this one was let in after it
  EXPECT_LT(room.share(), 0.7);
}

}  // namespace
}  // namespace sluice::policy
