// Times between and beyond what was measured.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "domain/limits.h"
#include "profile/function_profile.h"
#include "profile/functions.h"

namespace sluice::profile {
namespace {

ProfileRow a_row(int batch, int vcpu, int slices, double mean_ms, double sd_ms = 0) {
  return {.configuration = configuration(batch, vcpu, slices), .mean_ms = mean_ms, .sd_ms = sd_ms, .busy_mean_ms = {}};
}

FunctionProfile made(std::vector<ProfileRow> rows) {
  return FunctionProfile::make(ProfileTable{std::move(rows)}).value();
}

Latency at(const FunctionProfile& profile, int batch) {
  return profile.latency(configuration(batch, 1, 1));
}

TEST(Interpolation, PartialBatchesLieOnTheLineBetweenMeasuredOnes) {
  const FunctionProfile profile = made({a_row(2, 1, 1, 10, 1), a_row(4, 1, 1, 20, 2), a_row(8, 1, 1, 28, 6)});
  EXPECT_EQ(at(profile, 3), (Latency{15, 1.5, false}));
  EXPECT_EQ(at(profile, 7), (Latency{26, 5, false}));
}

TEST(Interpolation, SmallerThanMeasuredTakesAsLongAsTheSmallest) {
  EXPECT_EQ(at(made({a_row(4, 1, 1, 20, 2), a_row(8, 1, 1, 28)}), 1), (Latency{20, 2, true}));
}

TEST(Interpolation, LargerThanMeasuredGoesOnAsTheLastTwoDid) {
  EXPECT_EQ(at(made({a_row(1, 1, 1, 1), a_row(2, 1, 1, 10, 1), a_row(4, 1, 1, 20, 2)}), 8), (Latency{40, 4, true}));
  EXPECT_EQ(at(made({a_row(2, 1, 1, 10, 3), a_row(4, 1, 1, 9, 2)}), 8), (Latency{9, 2, true})) << "never falling";
  EXPECT_EQ(at(made({a_row(2, 1, 1, 10, 1)}), 6), (Latency{30, 3, true})) << "in proportion";
}

TEST(Interpolation, BusyNeighboursAreInterpolatedToo) {
  std::vector<ProfileRow> rows = {a_row(1, 1, 1, 10), a_row(3, 1, 1, 20)};
  rows[0].busy_mean_ms = 12;
  rows[1].busy_mean_ms = 26;
  EXPECT_DOUBLE_EQ(made(rows).latency(configuration(2, 1, 1), true).mean_ms, 19);
}

TEST(Interpolation, AMissingShareTakesTheTightestBoundOfMeasuredOnes) {
  const FunctionProfile profile = made({a_row(1, 1, 1, 100, 10), a_row(1, 2, 4, 40, 4)});
  const auto of = [&](int vcpu, int slices) { return profile.latency(configuration(1, vcpu, slices)); };
  EXPECT_EQ(of(1, 2), (Latency{100, 10, true})) << "1 slice bounds by 100, 4 slices and 2 vCPUs by 40 · 2 · 2";
  EXPECT_EQ(of(2, 2), (Latency{80, 8, true})) << "4 slices bound by 40 · 2";
  EXPECT_EQ(of(2, 7), (Latency{40, 4, true}));
  EXPECT_EQ(of(1, 4), (Latency{80, 8, true}));
  EXPECT_EQ(of(0, 1), (Latency{100, 10, true}));
}

TEST(Interpolation, AModelHoldsWithinItsSetsAndForPartialBatches) {
  const FunctionProfile profile = FunctionProfile::make(esg_functions()[0]).value();
  EXPECT_FALSE(profile.latency(configuration(5, 5, 3)).extrapolated);
  EXPECT_TRUE(profile.latency(configuration(33, 1, 1)).extrapolated);
  EXPECT_TRUE(profile.latency(configuration(1, 17, 1)).extrapolated);
  EXPECT_TRUE(profile.latency(configuration(1, 0, 1)).extrapolated);
  EXPECT_TRUE(profile.latency(configuration(1, 1, 8)).extrapolated);
  EXPECT_NEAR(profile.latency(configuration(64, 100, 8)).mean_ms,
              86 * (.35 + .5 * std::pow(64, .7) / std::pow(8, .8) + .15 * 64 / std::pow(100, .8)), 1e-9);
}

TEST(Interpolation, AModelUsesAtMostTwoVcpusAnInput) {
  const FunctionProfile profile = FunctionProfile::make(esg_functions()[0]).value();
  EXPECT_EQ(profile.latency(configuration(1, 16, 1)), profile.latency(configuration(1, 2, 1)));
  EXPECT_LT(profile.latency(configuration(2, 4, 1)).mean_ms, profile.latency(configuration(2, 3, 1)).mean_ms);
}

TEST(Interpolation, NeverLeavesTheRangeOfADuration) {
  const FunctionProfile table = made({a_row(1, 64, 64, 3e10, 3e10)});
  const FunctionProfile model = FunctionProfile::make(esg_functions()[0]).value();
  for (const FunctionProfile* profile : {&table, &model}) {
    const Latency latency = profile->latency(configuration(4096, 1, 1));
    EXPECT_LE(latency.mean_ms, limits::duration_max.to_ms());
    EXPECT_TRUE(std::isfinite(latency.sd_ms));
  }
}

// A table drawn from a model that is monotone and never speeds up more than in proportion, with half its shares
// missing.
FunctionProfile with_gaps(const FunctionProfile& model, Rng& rng) {
  std::vector<ProfileRow> rows;
  for (int vcpu = 1; vcpu <= 6; ++vcpu) {
    for (int slices = 1; slices <= 7; ++slices) {
      if (rng.chance(.5) && !rows.empty()) continue;
      for (int batch = 1; batch <= 12; ++batch) {
        if (rng.chance(.3) && batch > 1) continue;
        rows.push_back(a_row(batch, vcpu, slices, model.latency(configuration(batch, vcpu, slices)).mean_ms));
      }
    }
  }
  return made(rows);
}

TEST(Interpolation, MoreVcpusOrSlicesAreNeverSlowerInATableWithGaps) {
  Rng rng(7);
  for (int round = 0; round < 50; ++round) {
    const FunctionProfile model = FunctionProfile::make(esg_functions()[rng.below(6)]).value();
    const FunctionProfile table = with_gaps(model, rng);
    for (int vcpu = 1; vcpu <= 8; ++vcpu) {
      for (int slices = 1; slices <= 8; ++slices) {
        const double here = table.latency(configuration(1, vcpu, slices)).mean_ms;
        EXPECT_LE(table.latency(configuration(1, vcpu + 1, slices)).mean_ms, here * (1 + 1e-12));
        EXPECT_LE(table.latency(configuration(1, vcpu, slices + 1)).mean_ms, here * (1 + 1e-12));
      }
    }
  }
}

TEST(Interpolation, LargerBatchesAreNeverFasterInATableWithGaps) {
  Rng rng(8);
  for (int round = 0; round < 50; ++round) {
    const FunctionProfile table = with_gaps(FunctionProfile::make(esg_functions()[rng.below(6)]).value(), rng);
    for (int batch = 1; batch <= 20; ++batch) {
      const Configuration c = configuration(batch, 3, 3), larger = configuration(batch + 1, 3, 3);
      EXPECT_LE(table.latency(c).mean_ms, table.latency(larger).mean_ms * (1 + 1e-12));
    }
  }
}

}  // namespace
}  // namespace sluice::profile
