#include "profile/learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/rng.h"
#include "profile/cost.h"
#include "profile/function_profile.h"
#include "profile/functions.h"

namespace sluice::profile {
namespace {

// As the simulator draws: relative, normal, cut at three standard deviations.
double noise(Rng& rng, double sigma) {
  return 1 + sigma * std::clamp(rng.normal(), -3.0, 3.0);
}

Configuration nth(std::uint64_t n) {
  return configuration(static_cast<int>(n) + 1, 1, 1);
}

TEST(Learner, BelievesTheProfileUntilItHasSeenEnough) {
  Learner learner;
  EXPECT_EQ(learner.factor(nth(0)), 1);
  for (int i = 0; i < 4; ++i) learner.observe(nth(0), 10, 30);
  EXPECT_EQ(learner.factor(nth(0)), 1);
  learner.observe(nth(0), 10, 30);
  EXPECT_EQ(learner.factor(nth(0)), 3);
}

TEST(Learner, CorrectsAProfileThatIsWrongEverywhereWithinFiftyExecutionsOfAnyMix) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    const double truth = seed % 2 == 0 ? 3 : 1 / 3.0;
    const std::uint64_t kinds = 1 + rng.below(60);
    const double skew = rng.uniform(1, 4);  // from even mixes to ones that nearly always run the first
    const auto draw = [&] {
      return nth(static_cast<std::uint64_t>(std::pow(rng.uniform(), skew) * static_cast<double>(kinds)));
    };
    Learner learner;
    for (int i = 0; i < 50; ++i) learner.observe(draw(), 40, 40 * truth * noise(rng, .05));
    for (std::uint64_t n = 0; n < kinds + 5; ++n) {  // tried and untried
      EXPECT_NEAR(learner.factor(nth(n)) / truth, 1, .1) << "seed " << seed << " configuration " << n;
    }
  }
}

TEST(Learner, OneOutlierNeverMattersHoweverLittleIsKnown) {
  for (int executions = 0; executions <= 60; ++executions) {
    for (const double outlier : {10.0, 0.1}) {
      for (const int own : {1, 3}) {  // every execution or every third of the configuration that is asked for
        Rng rng(static_cast<std::uint64_t>(executions));
        Learner learner;
        for (int i = 0; i < executions; ++i)
          learner.observe(nth(static_cast<std::uint64_t>(i % own)), 40, 120 * noise(rng, .05));
        const double before = learner.factor(nth(0)), other = learner.factor(nth(9));
        learner.observe(nth(0), 40, 120 * outlier);
        if (executions == 4) continue;  // the fifth sample is the first that counts at all
        EXPECT_NEAR(learner.factor(nth(0)) / before, 1, .1) << executions;
        EXPECT_NEAR(learner.factor(nth(9)) / other, 1, .1) << executions;
      }
    }
  }
}

TEST(Learner, LearnsTheResidualOfAConfigurationBesideTheDevice) {
  Rng rng(3);
  Learner learner;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t n = rng.below(5);
    learner.observe(nth(n), 40, 40 * (n == 2 ? 4 : 2) * noise(rng, .05));
  }
  EXPECT_NEAR(learner.factor(nth(2)), 4, .25);
  EXPECT_NEAR(learner.factor(nth(1)), 2, .1);
  EXPECT_NEAR(learner.factor(nth(77)), 2, .1) << "untried: the device's";
}

TEST(Learner, KeepsDevicesApart) {
  Learner learner;
  for (int i = 0; i < 20; ++i) learner.observe(configuration(1, 1, 1), 10, 30);
  EXPECT_EQ(learner.factor(configuration(1, 4, 0)), 1);
  EXPECT_EQ(learner.factor({1, 1, 1, DeviceKind("h200")}), 1);
  EXPECT_EQ(learner.factor(configuration(8, 2, 7)), 3);
}

TEST(Learner, FollowsADeviceThatChangesAndForgetsWhatIsOld) {
  Learner learner;
  for (int i = 0; i < 40; ++i) learner.observe(nth(static_cast<std::uint64_t>(i % 2)), 10, 10);
  for (std::size_t i = 0; i < Learner::kDeviceWindow; ++i) learner.observe(nth(0), 10, 20);
  EXPECT_EQ(learner.factor(nth(0)), 2);
  EXPECT_EQ(learner.factor(nth(1)), 1) << "its own samples still count";
  for (std::size_t i = 0; i < Learner::kIdleMax; ++i) learner.observe(nth(0), 10, 20);
  EXPECT_EQ(learner.factor(nth(1)), 2);
  learner.observe(nth(1), 10, 20);
  EXPECT_EQ(learner.factor(nth(1)), 2) << "it starts over instead of remembering";
}

TEST(Learner, RemembersABoundedNumberOfExecutions) {
  Rng rng(4);
  Learner learner;
  for (int i = 0; i < 10'000; ++i) {
    const Configuration c = nth(rng.below(4000));
    learner.observe(c, 10, 10 * noise(rng, .1));
  }
  ASSERT_EQ(learner.state().size(), 1u);
  EXPECT_EQ(learner.state()[0].configurations.size(), Learner::kConfigurationsMax);
  EXPECT_EQ(learner.state()[0].ratios.size(), Learner::kDeviceWindow);
  EXPECT_EQ(learner.state()[0].deviations.size(), Learner::kSpreadWindow);
}

TEST(Learner, ForgetsTheConfigurationThatIsIdleLongestFirst) {
  Learner learner;
  for (std::uint64_t i = 0; i < 3 * Learner::kConfigurationsMax; ++i) {
    learner.observe(nth(0), 10, 40);
    learner.observe(nth(i), 10, 20);
    learner.observe(nth(i + 1), 10, 20);
  }
  EXPECT_EQ(learner.factor(nth(0)), 4);
  EXPECT_EQ(learner.factor(nth(9)), 2);
}

TEST(Learner, KeepsFactorsPositiveAndFiniteWhateverIsMeasured) {
  Learner learner;
  for (int i = 0; i < 40; ++i) learner.observe(nth(0), 1e-3, 1e300);
  EXPECT_LE(learner.factor(nth(0)), 1000);
  for (int i = 0; i < 40; ++i) learner.observe(nth(0), 10, 0);
  EXPECT_GT(learner.factor(nth(0)), 0);
}

// --- a planner that always takes what looks cheapest ---

// What the design forbids: every entry corrected by its own executions only.
class PerEntryLearner {
 public:
  void observe(const Configuration& c, double planned_ms, double measured_ms) {
    ratios_[c].push_back(measured_ms / planned_ms);
  }
  double factor(const Configuration& c) const {
    const auto found = ratios_.find(c);
    if (found == ratios_.end()) return 1;
    std::vector<double> sorted = found->second;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  std::map<Configuration, std::vector<double>> ratios_;
};

struct Flight {
  std::set<Configuration> tried;
  double paid_over_best = 0;  // what was paid over what always taking the truly cheapest costs
};

// 400 decisions for a function that takes three times as long as its profile says.
template <class AnyLearner>
Flight plan_greedily(const FunctionProfile& profile, std::uint64_t seed) {
  Rng rng(seed);
  AnyLearner learner;
  Flight flight;
  double paid = 0, best = 0;
  for (int i = 0; i < 400; ++i) {
    const auto cost = [&](const Configuration& c, double factor) {
      return cost_per_invocation(c, profile.latency(c).mean_ms * factor, Prices());
    };
    const auto all = profile.configurations();
    const auto chosen =
        *std::ranges::min_element(all, {}, [&](const Configuration& c) { return cost(c, learner.factor(c)); });
    const double planned_ms = profile.latency(chosen).mean_ms;
    learner.observe(chosen, planned_ms, 3 * planned_ms * noise(rng, .05));
    flight.tried.insert(chosen);
    paid += cost(chosen, 3);
    best += cost(*std::ranges::min_element(all, {}, [&](const Configuration& c) { return cost(c, 3); }), 3);
  }
  flight.paid_over_best = paid / best;
  return flight;
}

TEST(Learner, DoesNotSendAPlannerToUntriedEntries) {
  const FunctionProfile profile = FunctionProfile::make(esg_functions()[1]).value();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Flight flees = plan_greedily<PerEntryLearner>(profile, seed);
    EXPECT_GT(flees.tried.size(), 100u) << "the counter-example no longer shows the danger";
    EXPECT_GT(flees.paid_over_best, 1.2);
    const Flight stays = plan_greedily<Learner>(profile, seed);
    EXPECT_LE(stays.tried.size(), 8u);
    EXPECT_LT(stays.paid_over_best, 1.02);
  }
}

// --- spread and what plans are told ---

TEST(Learner, LearnsTheSpread) {
  for (const double sigma : {.02, .05, .2}) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Rng rng(seed);
      Learner learner;
      for (int i = 0; i < 300; ++i) learner.observe(nth(rng.below(3)), 40, 100 * noise(rng, sigma));
      sum += learner.relative_sd(DeviceKind::gpu(), .1) / 200;
      EXPECT_NEAR(learner.relative_sd(DeviceKind::gpu(), .1) / sigma, 1, .6) << seed;
    }
    EXPECT_NEAR(sum / sigma, 1, .15) << sigma;
  }
}

TEST(Learner, OneOutlierDoesNotWidenTheSpread) {
  Rng rng(5);
  Learner learner;
  for (int i = 0; i < 100; ++i) learner.observe(nth(0), 40, 40 * noise(rng, .05));
  const double before = learner.relative_sd(DeviceKind::gpu(), .05);
  learner.observe(nth(0), 40, 400);
  EXPECT_NEAR(learner.relative_sd(DeviceKind::gpu(), .05), before, .01);
}

TEST(Learner, CorrectsMeanAndSpreadAndKeepsTheMark) {
  Learner learner;
  EXPECT_EQ(learner.corrected(nth(0), {10, 1, true}), (Latency{10, 1, true}));
  for (int i = 0; i < 60; ++i) learner.observe(nth(0), 10, 30);
  EXPECT_EQ(learner.corrected(nth(0), {10, 1, false}).mean_ms, 30);
  EXPECT_EQ(learner.corrected(nth(0), {10, 1, false}).sd_ms, 0) << "every execution took the same";
  EXPECT_EQ(learner.corrected(nth(0), {0, 0, true}), (Latency{0, 0, true}));
}

TEST(Learner, AsksForNewPlansOnlyWhenTheyAreOffByMoreThanThreePerCent) {
  const Latency planned{10, .2, false};
  const auto after = [&](double measured_ms) {
    Learner learner;
    for (int i = 0; i < 40; ++i) learner.observe(nth(0), 10, measured_ms);
    return learner.changed_since(Learner(), nth(0), planned);
  };
  EXPECT_FALSE(after(10.2));
  EXPECT_TRUE(after(10.4));
  EXPECT_FALSE(after(9.8));
  EXPECT_TRUE(after(9.6));
  EXPECT_FALSE(Learner().changed_since(Learner(), nth(0), planned));
}

TEST(Learner, AsksForNewPlansWhenOnlyTheSpreadGrew) {
  Rng rng(6);
  Learner calm;
  for (int i = 0; i < 200; ++i) calm.observe(nth(0), 10, 10 * noise(rng, .01));
  Learner wild = calm;
  for (int i = 0; i < 200; ++i) wild.observe(nth(0), 10, i % 2 == 0 ? 8.5 : 11.5);
  EXPECT_TRUE(wild.changed_since(calm, nth(0), {10, .1, false}));
}

TEST(Learner, AsksForNewPlansWhenOnlyOneConfigurationMoved) {
  Learner before;
  for (int i = 0; i < 64; ++i) before.observe(nth(static_cast<std::uint64_t>(i % 8)), 10, 10);
  Learner after = before;
  for (int i = 0; i < 12; ++i) after.observe(nth(0), 10, 15);
  EXPECT_EQ(after.factor(nth(1)), 1);
  EXPECT_TRUE(after.changed_since(before, nth(0), {10, 0, false}));
  EXPECT_FALSE(after.changed_since(before, nth(1), {10, 0, false}));
}

TEST(Learner, AsksForNewPlansWhenAnotherMixMovesWhatUntriedEntriesAreWorth) {
  Learner before;
  for (int i = 0; i < 100; ++i) before.observe(nth(i % 5 == 0 ? 1 : 0), 10, i % 5 == 0 ? 12 : 10);
  Learner after = before;
  for (int i = 0; i < 30; ++i) after.observe(nth(1), 10, 12);
  EXPECT_EQ(after.factor(nth(1)), before.factor(nth(1)));
  EXPECT_TRUE(after.changed_since(before, nth(1), {10, 0, false}));
}

TEST(Learner, GoesOnTheSameAfterItWasSavedAndLoaded) {
  Rng rng(9);
  Learner learner;
  const auto step = [](Learner& l, Rng& r) {
    const Configuration c = r.chance(.3) ? configuration(1, 4, 0) : nth(r.below(9));
    l.observe(c, 10, 20 * noise(r, .3));
  };
  for (int i = 0; i < 400; ++i) {
    Learner loaded(learner.state());
    EXPECT_EQ(loaded, learner);
    Rng same = rng;
    step(learner, rng);
    EXPECT_NE(loaded, learner);
    step(loaded, same);
    EXPECT_EQ(loaded, learner);
  }
}

}  // namespace
}  // namespace sluice::profile
