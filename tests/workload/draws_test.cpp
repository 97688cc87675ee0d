#include "workload/draws.h"

#include <gtest/gtest.h>

namespace sluice::workload {
namespace {

TEST(LeastUniform, HasTheMeanOfTheLeastOfN) {
  for (const std::uint64_t n : {1u, 2u, 5u, 50u}) {
    Rng rng(n);
    double sum = 0;
    for (int i = 0; i < 200'000; ++i) {
      const double x = least_uniform(n, rng);
      ASSERT_TRUE(x >= 0 && x <= 1);
      sum += x;
    }
    const double mean = 1.0 / static_cast<double>(n + 1);
    EXPECT_NEAR(sum / 200'000, mean, 0.01 * mean) << n;
  }
}

TEST(RoundAtRandom, KeepsTheMeanAndWholeNumbers) {
  Rng rng(1);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t n = round_at_random(7.3, rng);
    ASSERT_TRUE(n == 7 || n == 8);
    sum += static_cast<double>(n);
    ASSERT_EQ(round_at_random(12, rng), 12u);
  }
  EXPECT_NEAR(sum / 100'000, 7.3, 0.006);
}

}  // namespace
}  // namespace sluice::workload
