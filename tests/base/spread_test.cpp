#include "base/spread.h"

#include <gtest/gtest.h>

#include <array>

namespace sluice {
namespace {

TEST(Spread, OfOneNumberHasNoWidth) {
  EXPECT_EQ(spread_of(std::array{3.0}).mean, 3);
  EXPECT_EQ(spread_of(std::array{3.0}).half, 0);
  EXPECT_EQ(spread_of({}).mean, 0);
}

TEST(Spread, OfTwoNumbersIsStudents) {
  const Spread spread = spread_of(std::array{1.0, 3.0});
  EXPECT_DOUBLE_EQ(spread.mean, 2);
  EXPECT_NEAR(spread.half, 12.71, 1e-9);  // deviation √2, over √2
}

}  // namespace
}  // namespace sluice
