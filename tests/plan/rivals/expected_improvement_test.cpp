#include "plan/rivals/expected_improvement.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sluice::plan {
namespace {

double density(double v, const Prediction& p) {
  const double z = (v - p.mean) / p.sd;
  return std::exp(-z * z / 2) / (p.sd * std::sqrt(2 * M_PI));
}

// Simpson's rule over the part of ± 12 standard deviations that is below `limit`.
template <class F>
double integral_below(double limit, const Prediction& p, const F& f) {
  const double low = p.mean - 12 * p.sd, high = std::min(limit, p.mean + 12 * p.sd);
  if (high <= low) return 0;
  constexpr int kSteps = 20'000;
  const double step = (high - low) / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double v = low + i * step;
    sum += (i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2) * f(v) * density(v, p);
  }
  return sum * step / 3;
}

TEST(ExpectedImprovement, IsTheIntegralItStandsFor) {
  for (const Prediction p : {Prediction{0, 1}, Prediction{5, 0.3}, Prediction{-2, 4}, Prediction{1e-4, 2e-5}}) {
    for (double z = -6; z <= 6; z += 0.25) {
      const double best = p.mean + z * p.sd;
      EXPECT_NEAR(expected_improvement(best, p), integral_below(best, p, [&](double v) { return best - v; }),
                  1e-10 * p.sd);
      EXPECT_NEAR(probability_within(best, p), integral_below(best, p, [](double) { return 1; }), 1e-10);
    }
  }
}

TEST(ExpectedImprovement, IsNeverNegativeAndGrowsWithDoubt) {
  for (double z = -40; z <= 0; z += 0.1) EXPECT_GE(expected_improvement(z, {0, 1}), 0) << z;
  EXPECT_LT(expected_improvement(0, {1, 0.5}), expected_improvement(0, {1, 1}));
  EXPECT_NEAR(expected_improvement(3, {1, 1e-9}), 2, 1e-12);  // certain: the whole difference
}

}  // namespace
}  // namespace sluice::plan
