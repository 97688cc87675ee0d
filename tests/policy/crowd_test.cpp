#include "policy/crowd.h"

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

Time at(double ms) {
  return Time::from_ns(Duration::ms(ms).count_ns());
}

TEST(Crowd, ALoneClientThatAsksAgainBringsNoCompany) {
  Crowd crowd;
  for (int i = 0; i < 100; ++i) {
    crowd.came(at(20 * i));
    EXPECT_EQ(crowd.rate(), 0) << i;  // nobody comes while it is unanswered
    crowd.left(at(20 * i + 10));
  }
}

TEST(Crowd, NorDoSeveralOnceAllOfThemWait) {
  Crowd crowd;
  for (int i = 0; i < 50; ++i) {
    for (int client = 0; client < 4; ++client) {
      crowd.came(at(100 * i + 5 * client));
      if (i > 4 && client < 3) {
        EXPECT_NEAR(crowd.rate(), 0.2, 0.01) << i << " " << client;
      }
    }
    EXPECT_EQ(crowd.rate(), 0) << i;
    for (int client = 0; client < 4; ++client) crowd.left(at(100 * i + 50));
  }
}

// Every 10 ms one comes, whoever waits, and is answered 35 ms later: 5 ms after that the next one is there.
TEST(Crowd, ArrivalsThatOverlapAreEvidence) {
  Crowd crowd;
  for (int i = 0; i < 200; ++i) {
    crowd.came(at(10 * i));
    if (i >= 3) crowd.left(at(10 * i + 5));
  }
  EXPECT_NEAR(crowd.rate(), 0.2, 0.01);
}

TEST(Crowd, EvidenceFades) {
  Crowd crowd;
  for (int i = 0; i < 20; ++i) {  // two at a time
    crowd.came(at(100 * i));
    crowd.came(at(100 * i + 10));
    crowd.left(at(100 * i + 50));
    crowd.left(at(100 * i + 60));
  }
  crowd.came(at(5'000));
  EXPECT_GT(crowd.rate(), 0);
  crowd.left(at(5'010));
  for (int i = 0; i < 80; ++i) {  // then one only
    crowd.came(at(6'000 + 100 * i));
    crowd.left(at(6'050 + 100 * i));
  }
  crowd.came(at(20'000));
  EXPECT_EQ(crowd.rate(), 0);
}

}  // namespace
}  // namespace sluice::policy
