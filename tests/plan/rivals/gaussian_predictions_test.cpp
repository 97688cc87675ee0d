#include "plan/rivals/gaussian_predictions.h"

#include <gtest/gtest.h>

#include "plan/rivals/gaussian_reference.h"

namespace sluice::plan {
namespace {

TEST(GaussianPredictions, AreThoseOfTheProcessPointByPoint) {
  Rng rng(1);
  const Points points = random_points(rng, 50, 4);
  std::vector<double> values;
  for (std::size_t i = 0; i < 50; ++i) values.push_back(rng.uniform(10, 500));
  const GaussianProcess process(points, values, {.length = 0.8, .noise = 1e-2});
  for (const std::size_t count : {1u, 7u, 8u, 9u, 100u}) {
    const Points at = random_points(rng, count, 4);
    const GaussianPredictions predictions(process, at);
    ASSERT_EQ(predictions.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_NEAR(predictions[i].mean, process.predict(at[i]).mean, 1e-9);
      EXPECT_NEAR(predictions[i].sd, process.predict(at[i]).sd, 1e-9);
    }
  }
}

// One believed point after the other, against solving from scratch with all of them among the samples.
TEST(GaussianPredictions, BelievingPointsIsTheSameAsSolvingAnew) {
  Rng rng(2);
  const Points points = random_points(rng, 30, 3), at = random_points(rng, 45, 3);
  const std::vector<double> values = standard_values(rng, 30);
  const GaussianProcess process(points, values, {.length = 0.4, .noise = 1e-3});
  GaussianPredictions predictions(process, at);
  GaussianReference reference{points, values, 0.4, 1e-3};
  for (const std::size_t believed : {0u, 44u, 13u, 13u, 20u, 21u, 22u, 23u, 24u, 25u}) {
    reference.values.push_back(reference.predict(at[believed]).mean);
    reference.points.add(at[believed]);
    predictions.believe(believed);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Prediction expected = reference.predict(at[i]);
      EXPECT_NEAR(predictions[i].mean, expected.mean, 1e-8);
      EXPECT_NEAR(predictions[i].sd, expected.sd, 1e-7);
    }
  }
  EXPECT_LT(predictions[13].sd, 0.04);
}

}  // namespace
}  // namespace sluice::plan
