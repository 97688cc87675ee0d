#include "base/rng.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/hash.h"

namespace sluice {
namespace {

// The values pin the stream: any compiler, library or flag that changes them changes every recorded run.
TEST(Rng, GivesTheSameNumbersEverywhere) {
  Rng rng(1);
  EXPECT_EQ(rng.next(), 0xcfc5d07f6f03c29bu);
  EXPECT_EQ(rng.next(), 0xbf424132963fe08du);
  EXPECT_EQ(Rng::keyed(1, 2, 3), Rng::keyed(1, 2, 3));
  EXPECT_FALSE(Rng::keyed(1, 2, 3) == Rng::keyed(1, 3, 2));
  Hash hash;
  for (int i = 0; i < 10'000; ++i) {
    hash.add(rng.normal());
    hash.add(rng.exponential());
    hash.add(rng.uniform(10, 16.8));
    hash.add(rng.below(7));
  }
  EXPECT_EQ(hash.value(), 0xdc343279450262a2u) << std::hex << hash.value();
}

TEST(Rng, NormalAndExponentialHaveTheirMoments) {
  Rng rng(7);
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0, exponential = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    exponential += rng.exponential();
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.01);
  EXPECT_NEAR(exponential / kDraws, 1, 0.01);
}

TEST(Rng, BelowIsUnbiasedAtTheEdge) {
  Rng rng(3);
  int counts[3] = {};
  for (int i = 0; i < 30'000; ++i) ++counts[rng.below(3)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(PortableLog, AgreesWithTheLibrary) {
  Rng rng(5);
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::ldexp(rng.uniform() + 1e-9, static_cast<int>(rng.below(200)) - 100);
    EXPECT_NEAR(portable_log(x), std::log(x), 4e-15 * std::max(1.0, std::abs(std::log(x)))) << x;
  }
  EXPECT_EQ(portable_log(1), 0);
}

}  // namespace
}  // namespace sluice
