#include "policy/miss_price.h"

#include <gtest/gtest.h>

#include <array>

#include "base/rng.h"

namespace sluice::policy {
namespace {

// Each cheaper level makes more requests late. The share of those that are in time is what was asked for.
TEST(MissPrice, MeetsThePercentileThatIsAskedFor) {
  constexpr std::array<double, MissPrice::kLevels> kLate = {0, 0.002, 0.02, 0.1, 0.4, 0.8};
  for (const double percentile : {50.0, 90.0, 95.0, 99.0}) {
    MissPrice price;
    Rng rng(7);
    int late = 0;
    constexpr int kWarmup = 2'000, kRequests = 20'000;
    for (int i = 0; i < kWarmup + kRequests; ++i) {
      const bool is_late = rng.chance(kLate[price.level()]);
      late += is_late && i >= kWarmup ? 1 : 0;
      price.ended(is_late, percentile);
    }
    const double met = 100 - 100.0 * late / kRequests;
    EXPECT_GE(met, percentile) << percentile;
    EXPECT_LE(met, percentile + 2) << percentile;
  }
}

TEST(MissPrice, BeginsWithTheDearestAndEndsWithTheCheapestIfNothingIsEverLate) {
  MissPrice price;
  EXPECT_EQ(price.level(), 0u);
  for (int i = 0; i < 1'000; ++i) price.ended(false, 95);
  EXPECT_EQ(price.level(), MissPrice::kLevels - 1);
  for (int i = 0; i < 40; ++i) price.ended(true, 95);
  EXPECT_EQ(price.level(), 0u);
}

}  // namespace
}  // namespace sluice::policy
