#include "plan/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/rng.h"

namespace sluice::plan {
namespace {

// Independent of Histogram: value → probability.
using Masses = std::map<double, double>;

Histogram histogram(const Masses& masses, double width = 1) {
  std::vector<Histogram> points;
  std::vector<double> weights;
  for (const auto& [value, probability] : masses) {
    points.push_back(Histogram::point(value, width));
    weights.push_back(probability);
  }
  return mixture(points, weights);
}

void expect_equal(const Histogram& h, const Masses& expected) {
  double sum = 0;
  for (const auto& [value, probability] : expected) {
    EXPECT_NEAR(h.at_most(value - 1e-6), sum, 1e-12) << value;
    sum += probability;
    EXPECT_NEAR(h.at_most(value), sum, 1e-12) << value;
  }
}

const Masses kStage{{1, .9}, {5, .1}};

TEST(Histogram, TwoStagesInSeriesConvolve) {
  const Histogram stage = histogram(kStage), sum = convolve(stage, stage);
  expect_equal(sum, {{2, .81}, {6, .18}, {10, .01}});
  EXPECT_EQ(sum.quantile(.95), 6);
  EXPECT_EQ(stage.quantile(.95) + stage.quantile(.95), 10);
  EXPECT_NEAR(sum.mean(), 2 * stage.mean(), 1e-12);
}

TEST(Histogram, TheLargestOfManyIsLarger) {
  const Histogram stage = histogram(kStage);
  EXPECT_NEAR(max_of(stage, 2).at_most(1), .81, 1e-12);
  EXPECT_NEAR(max_of(stage, 8).at_most(1), .4305, 5e-5);
  EXPECT_EQ(max_of(stage, 1).at_most(1), stage.at_most(1));
  EXPECT_NEAR(max_of(stage, 100'000).mean(), 5, 1e-9);
}

Histogram log_normal(double median, double sigma, double width) {
  const auto cdf = [&](double x) {
    return x <= 0 ? 0 : 0.5 * (1 + std::erf(std::log(x / median) / (sigma * std::sqrt(2.0))));
  };
  return Histogram::from_cdf(cdf, 0, median * std::exp(4 * sigma), width);
}

TEST(Histogram, GivesThePercentilesOfLogNormalStages) {
  const std::vector stages{log_normal(50, .35, 1), log_normal(80, .35, 1), log_normal(40, .35, 1)};
  double sum_of_quantiles = 0, mean = 0, variance = 0;
  for (const Histogram& stage : stages) {
    sum_of_quantiles += stage.quantile(.95);
    mean += stage.mean();
    variance += stage.variance();
  }
  EXPECT_NEAR(sum_of_quantiles, 302.3, 3);  // three roundings up to a lattice point
  EXPECT_NEAR(mean, 180.7, .1);
  EXPECT_NEAR(1.645 * std::sqrt(variance), 64.7, .2);
  const Histogram sum = convolve(convolve(stages[0], stages[1]), stages[2]);
  EXPECT_NEAR(sum.quantile(.95), 252.0, sum.width());
  EXPECT_NEAR(sum.mean(), mean, 1e-9);
  EXPECT_LE(sum.width(), 2);

  EXPECT_NEAR(stages[0].quantile(.95), 88.9, 1);
  EXPECT_NEAR(max_of(stages[0], 8).quantile(.95), 119.5, 1);
  EXPECT_EQ(max_of(stages[0], 8).quantile(.95), stages[0].quantile(std::pow(.95, 1. / 8)));
}

TEST(Histogram, NormalIsCutAtThreeSigma) {
  const Histogram h = Histogram::from_normal(100, 5, .25);
  EXPECT_NEAR(h.mean(), 100, 1e-9);
  EXPECT_NEAR(h.variance(), 25 * .97333, .02);
  EXPECT_EQ(h.at_most(84.5), 0);
  EXPECT_EQ(h.quantile(1), 115);
  EXPECT_NEAR(h.quantile(.95), 100 + 1.638 * 5, .25);  // 1.645 without the cut
  EXPECT_NEAR(h.at_most(105), .8426, .01);
  EXPECT_EQ(Histogram::from_normal(7, 0, 1).quantile(.01), 7);
}

TEST(Histogram, NormalHasNoNegativeTimes) {
  const Histogram h = Histogram::from_normal(1, 1, .125);
  EXPECT_NEAR(h.at_most(0), .158, .03);
  EXPECT_EQ(h.at_most(-.1), 0);
  EXPECT_EQ(h.at_most(1e300), 1);
}

TEST(Histogram, MixesByWeight) {
  const std::vector parts{Histogram::point(10, 1), Histogram::point(20, 1)};
  expect_equal(mixture(parts, std::vector{1., 3.}), {{10, .25}, {20, .75}});
  EXPECT_EQ(mixture(parts, std::vector{0., 1.}).quantile(.01), 20);
}

TEST(Histogram, QuantilesForgiveRounding) {
  for (int i = 1; i < 100; ++i) {
    const double p = i / 100.;
    const Histogram coin = histogram({{1, p}, {2, 1 - p}});
    EXPECT_EQ(convolve(convolve(coin, coin), coin).quantile(i * i * i / 1e6), 3);
  }
}

TEST(Histogram, APointBetweenLatticePointsKeepsItsMean) {
  EXPECT_NEAR(Histogram::point(10.3, 1).mean(), 10.3, 1e-12);
  EXPECT_EQ(Histogram::point(10.3, 1).quantile(1), 11);
  EXPECT_EQ(Histogram::point(0.3, 0.1).bins(), 1u);  // 0.3 / 0.1 is not quite 3
}

TEST(Histogram, WidensTheLatticeInsteadOfGrowing) {
  Histogram sum = Histogram::from_normal(100, 20, .5);
  const double mean = sum.mean(), variance = sum.variance();
  for (int i = 0; i < 5; ++i) sum = convolve(sum, sum);  // 32 stages
  EXPECT_LE(sum.bins(), Histogram::kBinsMax);
  EXPECT_NEAR(sum.mean(), 32 * mean, 1e-6);
  EXPECT_GE(sum.variance(), 32 * variance);
  EXPECT_LE(sum.variance(), 32 * variance + 10 * sum.width() * sum.width());
  EXPECT_NEAR(sum.quantile(.95), 32 * mean + 1.645 * std::sqrt(32 * variance), 1.5 * sum.width());

  const Histogram far = mixture(std::vector{Histogram::point(1, 1), Histogram::point(1e6, 1)}, std::vector{1., 1.});
  EXPECT_LE(far.bins(), Histogram::kBinsMax);
  EXPECT_NEAR(far.mean(), 500'000.5, 1e-6);
  EXPECT_LE(Histogram::from_normal(1e6, 1e5, .01).bins(), Histogram::kBinsMax);
}

TEST(Histogram, NeverExceedsItsBinsWhateverTheWidths) {
  const Histogram narrow =
      mixture(std::vector{Histogram::point(.3, 1), Histogram::point(100.6, 1)}, std::vector{1., 1.});
  for (int reach = 380; reach < 520; ++reach) {
    for (const double width : {1., 1.01, 1.3, 1.7, 2.}) {
      const std::vector ends{Histogram::point(.4, width), Histogram::point(reach + .4, width)};
      const Histogram wide = mixture(ends, std::vector{1., 2.});
      EXPECT_LE(convolve(narrow, wide).bins(), Histogram::kBinsMax);
      EXPECT_NEAR(convolve(narrow, wide).mean(), narrow.mean() + wide.mean(), 1e-9);
      EXPECT_LE(max_of(std::vector{narrow, wide}).bins(), Histogram::kBinsMax);
    }
  }
}

TEST(Histogram, AHugeFanOutDoesNotMultiplyRounding) {
  const Histogram one = Histogram::from_normal(100, 20, .7), h = convolve(convolve(one, one), one);
  const Histogram largest = max_of(h, 1'000'000'000'000'000'000);
  EXPECT_GE(largest.quantile(1e-9), h.quantile(1));
  EXPECT_NEAR(largest.mean(), h.quantile(1), 3 * h.width());
}

TEST(Histogram, DifferentWidthsMeetOnTheWider) {
  const Histogram sum = convolve(Histogram::point(3, .5), Histogram::point(10, 4));
  EXPECT_EQ(sum.width(), 4);
  EXPECT_NEAR(sum.mean(), 13, 1e-12);
}

// Every operation on random small distributions against enumeration of all outcomes.
Masses random_masses(Rng& rng) {
  Masses masses;
  double total = 0;
  for (std::uint64_t i = 1 + rng.below(4); i > 0; --i) masses[static_cast<double>(rng.below(20))] = rng.uniform(.1, 1);
  for (const auto& [value, mass] : masses) total += mass;
  for (auto& [value, mass] : masses) mass /= total;
  return masses;
}

template <class Combine>
Masses enumerate(const std::vector<Masses>& parts, Combine combine) {
  Masses result;
  std::vector<double> values(parts.size());
  const auto visit = [&](const auto& self, std::size_t i, double probability) -> void {
    if (i == parts.size()) {
      result[combine(values)] += probability;
      return;
    }
    for (const auto& [value, mass] : parts[i]) {
      values[i] = value;
      self(self, i + 1, probability * mass);
    }
  };
  visit(visit, 0, 1);
  return result;
}

TEST(Histogram, AgreesWithEnumerationOfAllOutcomes) {
  Rng rng(8);
  for (int i = 0; i < 500; ++i) {
    std::vector<Masses> masses(2 + rng.below(3));
    std::vector<Histogram> parts;
    for (Masses& part : masses) parts.push_back(histogram(part = random_masses(rng)));
    expect_equal(convolve(parts[0], parts[1]),
                 enumerate({masses[0], masses[1]}, [](const auto& v) { return v[0] + v[1]; }));
    for (std::size_t k = 1; k <= parts.size(); ++k) {
      expect_equal(kth_of(parts, k), enumerate(masses, [&](std::vector<double> v) {
                     std::sort(v.begin(), v.end());
                     return v[k - 1];
                   }));
    }
    expect_equal(max_of(parts), enumerate(masses, [](const auto& v) { return *std::max_element(v.begin(), v.end()); }));
    expect_equal(max_of(parts[0], 3), enumerate({masses[0], masses[0], masses[0]},
                                                [](const auto& v) { return *std::max_element(v.begin(), v.end()); }));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace sluice::plan
