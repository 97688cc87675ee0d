#include "plan/pareto.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/esg_profile.h"
#include "support/random_candidates.h"

namespace sluice::plan {
namespace {

Candidate candidate(int batch, int vcpu, int slices, double ms, double cost) {
  return {.configuration = configuration(batch, vcpu, slices), .ms = ms, .cost = cost};
}

TEST(Pareto, KeepsWhatNobodyMatchesByTimeAscending) {
  const Candidates all{candidate(1, 1, 1, 30, 1), candidate(1, 2, 1, 20, 2), candidate(1, 3, 1, 25, 2),
                       candidate(1, 4, 1, 10, 9), candidate(1, 5, 1, 10, 8)};
  EXPECT_EQ(pareto(all), (Candidates{all[4], all[1], all[0]}));
}

TEST(Pareto, OfEqualOnesTheLowestConfigurationStays) {
  const Candidates all{candidate(2, 1, 1, 10, 5), candidate(1, 2, 1, 10, 5), candidate(1, 2, 2, 10, 5)};
  EXPECT_EQ(pareto(all), (Candidates{all[1]}));
}

TEST(Pareto, OfNothingIsNothing) {
  EXPECT_TRUE(pareto({}).empty());
  EXPECT_TRUE(available_pareto({}).empty());
}

TEST(AvailablePareto, KeepsASlowerOneThatNeedsLessOfAnything) {
  const Candidate best = candidate(4, 4, 4, 10, 1);
  for (const Candidate& lesser : {candidate(1, 4, 4, 20, 2), candidate(4, 1, 4, 20, 2), candidate(4, 4, 1, 20, 2)}) {
    EXPECT_EQ(available_pareto(Candidates{best, lesser}).size(), 2u);
  }
  for (const Candidate& no_less : {candidate(8, 4, 4, 20, 2), candidate(4, 4, 4, 20, 2), candidate(4, 5, 6, 10, 1)}) {
    EXPECT_EQ(available_pareto(Candidates{no_less, best}), (Candidates{best}));
  }
}

TEST(AvailablePareto, NeverDropsForAnotherDevice) {
  Candidate cpu = candidate(1, 1, 0, 10, 1), gpu = candidate(1, 1, 1, 20, 2);
  EXPECT_EQ(available_pareto(Candidates{cpu, gpu}).size(), 2u);
}

// Either filter against its definition: a candidate is missing exactly if a kept one explains it.
TEST(Pareto, MatchesItsDefinitionOnRandomStages) {
  Rng rng(11);
  for (int i = 0; i < 2'000; ++i) {
    const Candidates all = random_candidates(rng, rng.below(30), i % 2 == 0);
    const auto no_worse = [](const Candidate& a, const Candidate& b) { return a.ms <= b.ms && a.cost <= b.cost; };
    const auto fits_too = [&](const Candidate& a, const Candidate& b) {
      const Configuration &x = a.configuration, &y = b.configuration;
      return no_worse(a, b) && x.batch <= y.batch && x.vcpu <= y.vcpu && x.slices <= y.slices;
    };
    const auto check = [&](const Candidates& kept, const auto& dominates) {
      for (const Candidate& c : all) {
        EXPECT_EQ(std::count_if(kept.begin(), kept.end(), [&](const auto& k) { return dominates(k, c); }) > 0, true);
      }
      for (const Candidate& k : kept) {
        EXPECT_EQ(std::count_if(kept.begin(), kept.end(), [&](const auto& other) { return dominates(other, k); }), 1);
      }
    };
    check(pareto(all), no_worse);
    check(available_pareto(all), fits_too);
  }
}

TEST(Pareto, LeavesThreeDozenOfEsgs256) {
  for (const auto& function : esg_profile::kFunctions) {
    const std::size_t left = pareto(esg_profile::candidates(function)).size();
    EXPECT_GE(left, 33u) << function.name;
    EXPECT_LE(left, 41u) << function.name;
  }
}

}  // namespace
}  // namespace sluice::plan
