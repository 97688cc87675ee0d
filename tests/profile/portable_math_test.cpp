#include "profile/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>

#include "profile/latency.h"

namespace sluice::profile {
namespace {

TEST(PortableMath, AgreesWithTheStandardLibrary) {
  for (double x = -700; x <= 700; x += 0.37) EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 4e-15) << x;
  for (double x = 1; x <= 5000; x *= 1.07) {
    for (const double y : {-8.0, -0.3, 0.5, 0.7, 0.8, 0.88, 1.0, 8.0})
      EXPECT_NEAR(portable_pow(x, y) / std::pow(x, y), 1, 5e-14) << x << '^' << y;
  }
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_pow(1, 0.7), 1);
}

TEST(NormalQuantile, InvertsTheNormalDistribution) {
  for (double percentile = 0.001; percentile < 100; percentile += 0.0397) {
    const double z = normal_quantile(percentile);
    EXPECT_NEAR(50 * std::erfc(-z / std::sqrt(2)), percentile, 1e-10);
  }
  EXPECT_EQ(normal_quantile(50), 0);
  EXPECT_NEAR(normal_quantile(95), 1.6448536269514722, 1e-11);
  EXPECT_NEAR(normal_quantile(99.9), 3.0902323061678132, 1e-10);
  EXPECT_NEAR(normal_quantile(1e-7), -5.9978070150076865, 1e-7);
}

TEST(NormalShareBelow, AgreesWithTheStandardLibraryFarIntoTheTails) {
  for (double z = -36.9; z <= 10; z += 0.0137) {
    const double expected = std::erfc(-z / std::sqrt(2)) / 2;
    EXPECT_NEAR(normal_share_below(z) / expected, 1, 1e-12) << z;
  }
  EXPECT_EQ(normal_share_below(0), 0.5);
  EXPECT_EQ(normal_share_below(-100), 0);
  EXPECT_EQ(normal_share_below(100), 1);
  EXPECT_NEAR(normal_density(0), 0.3989422804014327, 1e-16);
  EXPECT_NEAR(normal_density(-1.5) / normal_density(0), std::exp(-1.125), 1e-15);
}

TEST(NormalQuantileDeathTest, HasNoAnswerForCertainty) {
  EXPECT_DEATH(void(normal_quantile(100)), "CHECK failed");
  EXPECT_DEATH(void(normal_quantile(std::nan(""))), "CHECK failed");
}

TEST(Latency, QuantileIsMeanAtTheMedianAndNeverNegative) {
  const Latency latency{.mean_ms = 100, .sd_ms = 10};
  EXPECT_EQ(latency.quantile_ms(50), 100);
  EXPECT_NEAR(latency.quantile_ms(95), 116.4485, 1e-4);
  EXPECT_NEAR(latency.quantile_ms(5), 83.5515, 1e-4);
  EXPECT_EQ((Latency{.mean_ms = 1, .sd_ms = 10}.quantile_ms(5)), 0);
}

}  // namespace
}  // namespace sluice::profile
