#include "base/result.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/id.h"

namespace sluice {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{ErrorCode::invalid, "odd"};
  return n / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*half(4), 2);
  EXPECT_EQ(half(3).error().message, "odd");
}

TEST(Result, GivesItsValueAwayWhenItIsMoved) {
  Result<std::vector<int>> result(std::vector<int>{1, 2, 3});
  const int* const numbers = result->data();
  const std::vector<int> taken = *std::move(result);
  EXPECT_EQ(taken.data(), numbers);
}

TEST(ResultDeathTest, TakingTheValueOfAnErrorIsABug) {
  EXPECT_DEATH(void(half(3).value()), "CHECK failed.*odd");
}

TEST(CheckDeathTest, PrintsConditionAndMessage) {
  const int n = 3;
  EXPECT_DEATH(CHECK_MSG(n == 4, "n is three"), "result_test.cpp:.*CHECK failed: n == 4: n is three");
}

TEST(Id, NoneIsNotValid) {
  using CowId = Id<struct Cow>;
  EXPECT_FALSE(CowId().valid());
  EXPECT_TRUE(CowId(0).valid());
  EXPECT_LT(CowId(1), CowId(2));
}

}  // namespace
}  // namespace sluice
