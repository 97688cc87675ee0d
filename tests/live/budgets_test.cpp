// Quotas: what is refused, with which numbers, and that what ends is given back.
#include "live/budgets.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::live {
namespace {

constexpr Time at(double seconds) {
  return Time::from_ns(1'000'000'000'000 + static_cast<std::int64_t>(seconds * 1e9));
}

// The refusal, or "in".
std::string text_of(const Budgets::Entered& entered) {
  return entered.over ? entered.over->text : "in";
}

TEST(Budgets, LetEverybodyInWithoutQuota) {
  Budgets budgets;
  std::vector<Budgets::Entered> all;
  for (int i = 0; i < 1000; ++i) all.push_back(budgets.enter("a", Bytes::gb(1), 1, at(0)));
  EXPECT_EQ(text_of(all.back()), "in");
}

TEST(Budgets, BoundTheRequestsInTheSystem) {
  Budgets budgets;
  budgets.set("a", {.requests = 2});
  const auto first = budgets.enter("a", Bytes(1), 1, at(0));
  auto second = budgets.enter("a", Bytes(1), 1, at(0));
  const auto third = budgets.enter("a", Bytes(1), 1, at(0));
  EXPECT_EQ(text_of(third), "quota exceeded: 3 requests in the system, allowed are 2");
  EXPECT_EQ(third.over->needed, 3);
  EXPECT_EQ(third.over->available, 2);
  EXPECT_EQ(text_of(budgets.enter("b", Bytes(1), 1, at(0))), "in");
  second.held.reset();
  EXPECT_EQ(text_of(budgets.enter("a", Bytes(1), 1, at(0))), "in");
}

TEST(Budgets, BoundTheBytesOfSharedMemory) {
  Budgets budgets;
  EXPECT_TRUE(budgets.set("a", {.bytes = Bytes(100)}));
  EXPECT_FALSE(budgets.set("a", {.bytes = Bytes(100)}));
  EXPECT_EQ(text_of(budgets.enter("a", Bytes(101), 1, at(0))),
            "quota exceeded: 101 bytes of shared memory, allowed are 100");
  EXPECT_EQ(text_of(budgets.enter("a", Bytes(100), 1, at(0))), "in");
}

TEST(Budgets, BoundTheRate) {
  Budgets budgets;
  budgets.set("a", {.requests_per_second = 10});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(text_of(budgets.enter("a", Bytes(), 1, at(0))), "in") << i;
  const auto refused = budgets.enter("a", Bytes(), 1, at(0));
  EXPECT_EQ(text_of(refused), "quota exceeded: more than 10 requests a second");
  EXPECT_EQ(refused.over->needed, 11);
  EXPECT_EQ(refused.over->retry_after, Duration::ms(100));
  EXPECT_EQ(text_of(budgets.enter("a", Bytes(), 1, at(0.11))), "in");
  EXPECT_NE(text_of(budgets.enter("a", Bytes(), 1, at(0.12))), "in");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(text_of(budgets.enter("a", Bytes(), 1, at(100))), "in") << i;
  EXPECT_NE(text_of(budgets.enter("a", Bytes(), 1, at(100))), "in");
}

TEST(Budgets, LetTheRowsOfARequestInTogetherOrNotAtAll) {
  Budgets budgets;
  budgets.set("a", {.requests = 4});
  auto three = budgets.enter("a", Bytes(1), 3, at(0));
  EXPECT_EQ(text_of(three), "in");
  EXPECT_EQ(text_of(budgets.enter("a", Bytes(1), 2, at(0))), "quota exceeded: 5 requests in the system, allowed are 4");
  EXPECT_EQ(text_of(budgets.enter("a", Bytes(1), 1, at(0))), "in");
  three.held.reset();
  EXPECT_EQ(text_of(budgets.enter("a", Bytes(1), 4, at(0))), "in");
}

TEST(Budgets, CountEveryRowAgainstTheRate) {
  Budgets budgets;
  budgets.set("a", {.requests_per_second = 10});
  EXPECT_EQ(text_of(budgets.enter("a", Bytes(), 8, at(0))), "in");
  const auto soon = budgets.enter("a", Bytes(), 4, at(0));
  EXPECT_EQ(text_of(soon), "quota exceeded: more than 10 requests a second");
  EXPECT_EQ(soon.over->retry_after, Duration::ms(200));
  const auto never = budgets.enter("a", Bytes(), 11, at(100));
  EXPECT_EQ(text_of(never), "quota exceeded: more than 10 requests a second: 11 rows never come in at once");
  EXPECT_EQ(never.over->retry_after, std::nullopt);
}

}  // namespace
}  // namespace sluice::live
