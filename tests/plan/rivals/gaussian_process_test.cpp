#include "plan/rivals/gaussian_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plan/rivals/gaussian_reference.h"
#include "plan/rivals/matern.h"

namespace sluice::plan {
namespace {

using Settings = GaussianProcess::Settings;

TEST(Matern, IsItsFormula) {
  for (double d = 0; d < 5; d += 0.013) {
    const double x = std::sqrt(5.0) * d / 0.4;
    EXPECT_NEAR(matern(d, 0.4), (1 + x + x * x / 3) * std::exp(-x), 1e-15);
  }
  for (double x = 0; x < 700; x += 0.37) EXPECT_NEAR(decay(x) / std::exp(-x), 1, 1e-14) << x;
  EXPECT_EQ(decay(0), 1);
  EXPECT_EQ(decay(701), 0);
  EXPECT_EQ(matern(1e9, 0.1), 0);
}

// Two samples, +1 and -1, are standardised already; everything has a closed form.
TEST(GaussianProcess, AgreesWithTwoSamplesSolvedByHand) {
  const double noise = 0.01, a = 1 + noise, k = matern(0.5, 0.4);
  Points points(1);
  points.add(std::vector{0.25});
  points.add(std::vector{0.75});
  const GaussianProcess process(points, std::vector{1.0, -1.0}, {.length = 0.4, .noise = noise});

  const double k1 = matern(0.05, 0.4), k2 = matern(0.45, 0.4);
  const Prediction at = process.predict(std::vector{0.3});
  EXPECT_NEAR(at.mean, (k1 - k2) / (a - k), 1e-14);
  EXPECT_NEAR(at.sd * at.sd, 1 - (a * (k1 * k1 + k2 * k2) - 2 * k * k1 * k2) / (a * a - k * k), 1e-14);
  EXPECT_NEAR(process.log_likelihood(), -1 / (a - k) - std::log(a * a - k * k) / 2 - std::log(2 * M_PI), 1e-13);
  EXPECT_NEAR(process.mean_at(0), process.predict(points[0]).mean, 1e-14);
  EXPECT_NEAR(process.surprises()[0], (1 + k / a) / std::sqrt(a - k * k / a), 1e-13);
  EXPECT_NEAR(process.surprises()[1], -(1 + k / a) / std::sqrt(a - k * k / a), 1e-13);
}

TEST(GaussianProcess, GoesThroughItsSamplesAndKnowsNothingFarAway) {
  Rng rng(3);
  const Points points = random_points(rng, 20, 2);
  std::vector<double> values;
  for (std::size_t i = 0; i < 20; ++i) values.push_back(100 + 30 * std::sin(5 * points[i][0]) * points[i][1]);
  const GaussianProcess process(points, values, {.length = 0.4, .noise = 1e-9});
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / 20;
  for (const double v : values) squares += (v - mean) * (v - mean) / 20;
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(process.predict(points[i]).mean, values[i], 1e-5);
    EXPECT_LT(process.predict(points[i]).sd, 1e-3 * std::sqrt(squares));
  }
  const Prediction far = process.predict(std::vector{50.0, 50.0});
  EXPECT_NEAR(far.mean, mean, 1e-9);
  EXPECT_NEAR(far.sd, std::sqrt(squares), 1e-9);
}

TEST(GaussianProcess, AgreesWithPlainElimination) {
  Rng rng(7);
  for (const std::size_t n : {1u, 2u, 31u, 33u, 120u}) {
    const Points points = random_points(rng, n, 3);
    const std::vector<double> values = standard_values(rng, n);
    const GaussianProcess process(points, values, {.length = 0.8, .noise = 1e-3});
    const GaussianReference reference{points, values, 0.8, 1e-3};
    for (int i = 0; i < 20; ++i) {
      const std::vector<double> at{rng.uniform(), rng.uniform(), rng.uniform()};
      const Prediction got = process.predict(at), expected = reference.predict(at);
      EXPECT_NEAR(got.mean, expected.mean, 1e-9);
      EXPECT_NEAR(got.sd, expected.sd, 1e-9);
    }
  }
}

TEST(GaussianProcess, EqualValuesAreNoTrouble) {
  Points points(1);
  for (const double x : {0.1, 0.1, 0.9}) points.add(std::vector{x});
  const std::vector<double> values{5, 5, 5};
  const GaussianProcess process(points, values, GaussianProcess::choose(points, values));
  EXPECT_NEAR(process.predict(std::vector{0.5}).mean, 5, 1e-12);
}

// Data drawn from a process: the likelihood finds its length and noise, give or take a step. (Longer lengths are nearly
// straight lines on the unit square, whose own variance says little.)
TEST(GaussianProcess, ChoosesTheSettingsThatTheDataWereDrawnWith) {
  Rng rng(11);
  int exact = 0;
  for (const double length : {0.1, 0.2, 0.4}) {
    for (const double noise : {1e-3, 1e-2, 1e-1}) {
      const Points points = random_points(rng, 120, 2);
      const Settings found = GaussianProcess::choose(points, draw_from_process(rng, points, length, noise));
      EXPECT_LE(std::max(found.length / length, length / found.length), 2.001) << length << ' ' << noise;
      EXPECT_LE(std::max(found.noise / noise, noise / found.noise), 10.001) << length << ' ' << noise;
      exact += found.length == length ? 1 : 0;
    }
  }
  EXPECT_GE(exact, 7);
}

TEST(GaussianProcess, IsSurprisedByAPlantedOutlierOnly) {
  Rng rng(5);
  const Points points = random_points(rng, 40, 1);
  std::vector<double> values;
  for (std::size_t i = 0; i < 40; ++i) values.push_back(std::sin(4 * points[i][0]) + 0.01 * rng.normal());
  values[17] += 2;
  const std::vector<double> surprises =
      GaussianProcess(points, values, GaussianProcess::choose(points, values)).surprises();
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(std::abs(surprises[i]) > 3, i == 17) << i << ' ' << surprises[i];
}

TEST(GaussianProcessDeathTest, RefusesWhatIsNoNumber) {
  Points points(1);
  points.add(std::vector{0.5});
  EXPECT_DEATH(void(GaussianProcess(points, std::vector<double>{NAN}, {})), "CHECK failed");
  EXPECT_DEATH(void(GaussianProcess(points, std::vector{1.0, 2.0}, {})), "CHECK failed");
}

}  // namespace
}  // namespace sluice::plan
