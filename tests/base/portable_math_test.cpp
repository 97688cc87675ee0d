#include "base/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/rng.h"

namespace sluice {
namespace {

TEST(PortableSine, AgreesWithTheLibrary) {
  Rng rng(1);
  for (int i = 0; i < 100'000; ++i) {
    const double turns = rng.uniform(-2, 2);
    EXPECT_NEAR(portable_sine_of_turns(turns), std::sin(2 * std::numbers::pi * turns), 2e-15) << turns;
  }
}

TEST(PortableSine, HitsTheQuartersHoweverManyTurns) {
  for (const double turns : {0.0, 1.0, -3.0, 123'456'789.0}) {
    EXPECT_EQ(portable_sine_of_turns(turns), 0);
    EXPECT_DOUBLE_EQ(portable_sine_of_turns(turns + 0.25), 1);
    EXPECT_EQ(portable_sine_of_turns(turns + 0.5), 0);
    EXPECT_DOUBLE_EQ(portable_sine_of_turns(turns + 0.75), -1);
  }
}

TEST(PortableExpm1, AgreesWithTheLibrary) {
  Rng rng(2);
  for (int i = 0; i < 100'000; ++i) {
    const double x = -std::ldexp(rng.uniform() + 1e-9, static_cast<int>(rng.below(49)) - 40);
    EXPECT_NEAR(portable_expm1(x) / std::expm1(x), 1, 2e-15) << x;
  }
  EXPECT_EQ(portable_expm1(0), 0);
  EXPECT_DOUBLE_EQ(portable_expm1(-700), -1);
}

TEST(PortableMathDeathTest, RefusesWhatItCannotAnswer) {
  EXPECT_DEATH(void(portable_sine_of_turns(std::nan(""))), "CHECK failed");
  EXPECT_DEATH(void(portable_expm1(1)), "CHECK failed");
}

}  // namespace
}  // namespace sluice
