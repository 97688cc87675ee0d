// The laws of luck: mean, spread and tails of what times are multiplied with.
#include "sim/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/world.h"
#include "spec/load.h"

namespace sluice::sim {
namespace {

constexpr std::uint64_t kDraws = 200'000;

std::vector<double> draws(const Noise& noise) {
  std::vector<double> out;
  for (std::uint64_t request = 0; request < kDraws; ++request)
    out.push_back(luck_of({.seed = 7, .request = request, .stage = 1}, noise.sigma, noise));
  return out;
}

struct Moments {
  double mean = 0, sd = 0, least = 1e9, most = 0;
};

Moments moments(const std::vector<double>& draws) {
  Moments out;
  for (const double d : draws) {
    out.mean += d / static_cast<double>(draws.size());
    out.least = std::min(out.least, d);
    out.most = std::max(out.most, d);
  }
  for (const double d : draws) out.sd += (d - out.mean) * (d - out.mean) / static_cast<double>(draws.size());
  out.sd = std::sqrt(out.sd);
  return out;
}

double share_above(const std::vector<double>& draws, double bound) {
  return static_cast<double>(std::count_if(draws.begin(), draws.end(), [&](double d) { return d > bound; })) /
         static_cast<double>(draws.size());
}

TEST(Luck, NormalIsCutAtThreeSigma) {
  const Moments m = moments(draws({.sigma = 0.1}));
  EXPECT_NEAR(m.mean, 1, 0.001);
  EXPECT_NEAR(m.sd, 0.1, 0.001);
  EXPECT_DOUBLE_EQ(m.least, 0.7);
  EXPECT_DOUBLE_EQ(m.most, 1.3);
}

TEST(Luck, LogNormalHasTheSameMeanAndSpreadAndALongTail) {
  for (const double sigma : {0.05, 0.3}) {
    const std::vector<double> all = draws({.sigma = sigma, .law = NoiseLaw::log_normal});
    const Moments m = moments(all);
    EXPECT_NEAR(m.mean, 1, 0.003 * sigma / 0.3 + 0.0005);
    EXPECT_NEAR(m.sd, sigma, 0.02 * sigma);
    EXPECT_GT(m.least, 0);
    EXPECT_GT(share_above(all, 1 + 3 * sigma), 1.2 * 0.00135);  // what a normal one has beyond
    EXPECT_GT(share_above(all, 1 + 2 * sigma), 1 - share_above(all, 1 - 2 * sigma));
  }
}

TEST(Luck, StragglersAreAsManyAndAsSlowAsAsked) {
  const std::vector<double> all = draws({.sigma = 0.05, .straggler_probability = 0.02, .straggler_factor = 4});
  EXPECT_NEAR(share_above(all, 2), 0.02, 0.001);
  EXPECT_NEAR(moments(all).mean, 1 + 0.02 * 3, 0.005);
  EXPECT_LE(moments(all).most, 4 * 1.15 + 1e-9);
}

TEST(Luck, IsThatOfTheWork) {
  const Noise noise{.sigma = 0.2, .law = NoiseLaw::log_normal, .straggler_probability = 0.1, .straggler_factor = 3};
  const LuckKey key{.seed = 3, .request = 5, .stage = 2};
  EXPECT_EQ(luck_of(key, noise.sigma, noise), luck_of(key, noise.sigma, noise));
  EXPECT_NE(luck_of(key, noise.sigma, noise), luck_of({.seed = 4, .request = 5, .stage = 2}, noise.sigma, noise));
}

TEST(Drift, GrowsWithTimeUpToItsMost) {
  const Noise noise{.drift_per_minute = 0.1, .drift_max = 0.25};
  EXPECT_DOUBLE_EQ(drift_of(noise, Duration{}), 1);
  EXPECT_DOUBLE_EQ(drift_of(noise, Duration::s(90)), 1.15);
  EXPECT_DOUBLE_EQ(drift_of(noise, Duration::s(600)), 1.25);
  EXPECT_DOUBLE_EQ(drift_of(Noise{}, Duration::s(600)), 1);
  EXPECT_DOUBLE_EQ(drift_of(std::nullopt, Duration::s(600)), 1);
  const Noise slow{.slow = {{Duration::s(10), 1.6}, {Duration::s(20), 1}}};
  EXPECT_DOUBLE_EQ(drift_of(slow, Duration::s(9)), 1);
  EXPECT_DOUBLE_EQ(drift_of(slow, Duration::s(10)), 1.6);
  EXPECT_DOUBLE_EQ(drift_of(slow, Duration::s(20)), 1);
}

// A world whose times are a quarter longer after a second.
TEST(Drift, MakesExecutionsLonger) {
  const spec::Loaded loaded = spec::load("examples/esg/relaxed_light.yaml");
  ASSERT_TRUE(loaded.document.has_value());
  Experiment experiment = std::get<Experiment>(*loaded.document);
  experiment.workload.requests = 500;
  experiment.workload.warmup = 100;
  const auto seconds = [&](const Noise& noise) {
    experiment.noise = noise;
    auto world = World::make(experiment, {.scheduler = "fifo"});
    EXPECT_TRUE(world.ok());
    return (*world)->run().slice_seconds;
  };
  const double still = seconds({}), drifts = seconds({.drift_per_minute = 1000, .drift_max = 0.25});
  EXPECT_GT(drifts / still, 1.23);
  EXPECT_LT(drifts / still, 1.25);
}

}  // namespace
}  // namespace sluice::sim
