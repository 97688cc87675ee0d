#include "policy/company.h"

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

Time at(double ms) {
  return Time::from_ns(Duration::ms(ms).count_ns());
}

TEST(Company, IsWaitedForUntilManyShouldHaveComeAndNobodyDid) {
  Company company;
  EXPECT_TRUE(company.worth(1, 0.1, at(0)));  // one in 10 ms
  EXPECT_EQ(company.doubt_in(1), Duration::ms(100) + Duration::us(1));
  EXPECT_TRUE(company.worth(1, 0.05, at(60)));  // nobody came, which makes the rate less, not the doubt
  EXPECT_EQ(company.doubt_in(1), Duration::ms(40) + Duration::us(1));
  EXPECT_FALSE(company.worth(1, 0.04, at(100.001)));
  EXPECT_FALSE(company.worth(1, 0.1, at(200)));
}

TEST(Company, WaitsInVainAddUp) {
  Company company;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(company.worth(1, 0.1, at(1000 * i)));
    company.started(at(1000 * i + 30));
  }
  EXPECT_TRUE(company.worth(1, 0.1, at(5000)));
  EXPECT_FALSE(company.worth(1, 0.1, at(5011)));
}

TEST(Company, OneThatComesMakesUpForAllThatDidNot) {
  Company company;
  EXPECT_TRUE(company.worth(1, 0.1, at(0)));
  EXPECT_TRUE(company.worth(1, 0.1, at(90)));
  company.came();
  EXPECT_TRUE(company.worth(1, 0.1, at(1000)));
  EXPECT_TRUE(company.worth(1, 0.1, at(1090)));
}

// Two clients that wait for their answers: a second one comes, a third one never.
TEST(Company, EveryNumberThatWaitsIsLookedAtByItself) {
  Company company;
  double now = 0;
  for (int i = 0; i < 4; ++i, now += 100) {
    EXPECT_TRUE(company.worth(1, 0.1, at(now)));
    company.came();
    EXPECT_TRUE(company.worth(2, 0.1, at(now + 1)));
    EXPECT_EQ(company.worth(2, 0.1, at(now + 28)), i < 3);
    company.started(at(now + 28));
  }
  EXPECT_TRUE(company.worth(1, 0.1, at(now)));
  company.came();
  EXPECT_FALSE(company.worth(2, 0.1, at(now + 1)));
}

TEST(Company, IsTriedAgainLaterEachTime) {
  Company company;
  double now = 0;
  const auto doubt = [&] {
    EXPECT_TRUE(company.worth(1, 0.1, at(now)));
    now += 128;
    EXPECT_FALSE(company.worth(1, 0.1, at(now)));
  };
  for (const double pause : {512.0, 1'024.0, 2'048.0, 4'096.0, 8'192.0, 16'384.0, 32'768.0, 60'000.0, 60'000.0}) {
    doubt();
    EXPECT_FALSE(company.worth(1, 0.1, at(now + pause - 1)));
    now += pause;
  }
  EXPECT_TRUE(company.worth(1, 0.1, at(now)));
}

}  // namespace
}  // namespace sluice::policy
