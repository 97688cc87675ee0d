#include "plan/rivals/esg_1q.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "plan/rivals/brute_force.h"
#include "support/esg_profile.h"
#include "support/random_candidates.h"

namespace sluice::plan {
namespace {

using Keep = SortedStages::Keep;
constexpr double kForever = std::numeric_limits<double>::infinity();

Candidate candidate(int batch, double ms, double cost) {
  return {.configuration = configuration(batch, 1, 1), .ms = ms, .cost = cost};
}

std::vector<Configuration> configurations(const std::vector<Candidates>& stages, const Path& path) {
  std::vector<Configuration> result;
  for (std::size_t i = 0; i < stages.size(); ++i) result.push_back(stages[i][path.candidates[i]].configuration);
  return result;
}

// A path is what it says: its sums in stage order, within budget and cap.
void expect_sound(const std::vector<Candidates>& stages, const Path& path, double budget_ms, BatchCap cap) {
  double ms = 0;
  Dollars cost = 0;
  ASSERT_EQ(path.candidates.size(), stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Candidate& c = stages[i][path.candidates[i]];
    ms += c.ms;
    cost += c.cost;
    EXPECT_LE(c.configuration.batch, cap);
  }
  EXPECT_EQ(path.ms, ms);
  EXPECT_EQ(path.cost, cost);
  EXPECT_LE(path.ms, budget_ms);
}

void expect_same(std::span<const Path> paths, const std::vector<ChosenPath>& expected) {
  ASSERT_EQ(paths.size(), expected.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(paths[i].cost, expected[i].cost) << i;  // to the bit
    EXPECT_EQ(paths[i].ms, expected[i].ms) << i;
  }
}

TEST(Esg1q, EqualsBruteForceOnRandomChains) {
  Rng rng(1);
  SearchWorkspace workspace;
  for (int i = 0; i < 6'000; ++i) {
    SCOPED_TRACE(i);
    const auto chain = random_chain(rng, i % 2 == 0);
    const BatchCap cap = rng.chance(0.5) ? kNoBatchCap : static_cast<BatchCap>(rng.below(9));
    const double budget = random_budget(rng, chain);
    const std::size_t k = 1 + rng.below(6);
    const SearchResult result = esg_1q(SortedStages(chain, cap, Keep::all), {.budget_ms = budget, .k = k}, workspace);
    expect_same(result.paths, *brute_force({.stages = chain, .budget_ms = budget, .batch_cap = cap}, k));
    for (const Path& path : result.paths) expect_sound(chain, path, budget, cap);
    if (HasFailure()) return;
  }
}

TEST(Esg1q, DistinctFirstEqualsBruteForcePerFirstConfiguration) {
  Rng rng(2);
  SearchWorkspace workspace;
  for (int i = 0; i < 6'000; ++i) {
    SCOPED_TRACE(i);
    const auto chain = random_chain(rng, i % 2 == 0);
    const BatchCap cap = rng.chance(0.5) ? kNoBatchCap : static_cast<BatchCap>(rng.below(9));
    const double budget = random_budget(rng, chain);
    const std::size_t k = 1 + rng.below(6);
    auto expected = *brute_force_per_first({.stages = chain, .budget_ms = budget, .batch_cap = cap});
    expected.resize(std::min(expected.size(), k));
    const SearchResult result =
        esg_1q(SortedStages(chain, cap, Keep::all), {.budget_ms = budget, .k = k, .distinct_first = true}, workspace);
    expect_same(result.paths, expected);
    std::set<std::uint32_t> firsts;
    for (const Path& path : result.paths) {
      expect_sound(chain, path, budget, cap);
      firsts.insert(path.candidates[0]);
    }
    EXPECT_EQ(firsts.size(), result.paths.size());
    if (HasFailure()) return;
  }
}

TEST(Esg1q, OnParetoStagesKeepsTheBest) {
  Rng rng(3);
  SearchWorkspace workspace;
  for (int i = 0; i < 2'000; ++i) {
    const auto chain = random_chain(rng, i % 2 == 0);
    const double budget = random_budget(rng, chain);
    const SearchResult result =
        esg_1q(SortedStages(chain, kNoBatchCap, Keep::pareto), {.budget_ms = budget, .k = 1}, workspace);
    expect_same(result.paths, *brute_force({.stages = chain, .budget_ms = budget}, 1));
  }
}

// The pseudo-code of the reference, word for word and with no thought of speed: returns the pairs it looks at.
std::uint64_t expansions_by_the_book(const std::vector<Candidates>& chain, double budget, std::size_t k) {
  struct Partial {
    double cost = 0, ms = 0;
  };
  const SortedStages stages(chain, kNoBatchCap, Keep::all);
  std::vector<Partial> paths{{}};
  double bound = kForever;
  std::uint64_t expansions = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const auto stage = stages.stage(i);
    std::vector<Partial> next;
    std::vector<double> upper;
    for (const Partial& p : paths) {
      for (std::size_t c = 0; c < stage.cost.size(); ++c) {
        ++expansions;
        if (p.cost + stage.cost[c] + stages.cheapest_from(i + 1) > bound) break;
        if (p.ms + stage.ms[c] + stages.fastest_ms_from(i + 1) > budget) continue;
        upper.push_back(p.cost + stage.cost[c] + stages.cost_of_fastest_from(i + 1));
        std::sort(upper.begin(), upper.end());
        if (upper.size() >= k) bound = std::min(bound, upper[k - 1]);
        next.push_back({p.cost + stage.cost[c], p.ms + stage.ms[c]});
      }
    }
    std::erase_if(next, [&](const Partial& n) { return n.cost + stages.cheapest_from(i + 1) > bound; });
    std::stable_sort(next.begin(), next.end(), [](const Partial& a, const Partial& b) {
      return std::tie(a.cost, a.ms) < std::tie(b.cost, b.ms);
    });
    paths = next;
  }
  return expansions;
}

TEST(Esg1q, LooksAtThePairsOfThePseudoCode) {
  Rng rng(4);
  SearchWorkspace workspace;
  for (int i = 0; i < 2'000; ++i) {
    auto chain = random_chain(rng, true);  // whole numbers: no rounding to disagree about
    std::erase_if(chain, [](const Candidates& c) { return c.empty(); });
    if (chain.empty()) continue;
    const double budget = random_budget(rng, chain);
    const std::size_t k = 1 + rng.below(6);
    const SearchResult result =
        esg_1q(SortedStages(chain, kNoBatchCap, Keep::all), {.budget_ms = budget, .k = k}, workspace);
    ASSERT_EQ(result.expansions, expansions_by_the_book(chain, budget, k)) << i;
  }
}

TEST(Esg1q, CountsEveryPairItLooksAt) {
  const std::vector<Candidates> one{{candidate(1, 10, 1), candidate(1, 10, 2), candidate(1, 10, 3)}};
  const SortedStages stages(one, kNoBatchCap, Keep::all);
  SearchWorkspace workspace;
  EXPECT_EQ(esg_1q(stages, {.budget_ms = 10, .k = 1}, workspace).expansions, 2u);  // the second is too dear
  EXPECT_EQ(esg_1q(stages, {.budget_ms = 10, .k = 5}, workspace).expansions, 3u);
  EXPECT_EQ(esg_1q(stages, {.budget_ms = 9, .k = 1}, workspace).expansions, 3u);  // all too slow
}

TEST(Esg1q, FindsTheReferencePaths) {
  const auto application = esg_profile::image_classification();
  const auto chain = application.candidates();
  SearchWorkspace workspace;
  const SearchResult alone = esg_1q(SortedStages(chain, 1, Keep::all), {.budget_ms = 0.8 * 526}, workspace);
  ASSERT_EQ(alone.paths.size(), 5u);
  EXPECT_EQ(configurations(chain, alone.paths[0]),
            (std::vector{configuration(1, 2, 1), configuration(1, 2, 2), configuration(1, 2, 1)}));
  EXPECT_NEAR(alone.paths[0].ms, 405, 0.5);

  const SearchResult eight = esg_1q(SortedStages(chain, 8, Keep::all), {.budget_ms = 1.0 * 526}, workspace);
  ASSERT_EQ(eight.paths.size(), 5u);
  EXPECT_EQ(configurations(chain, eight.paths[0]),
            (std::vector{configuration(8, 16, 7), configuration(8, 12, 7), configuration(8, 12, 4)}));
  EXPECT_NEAR(eight.paths[0].ms, 523, 0.5);
  Dollars minimum = 0;
  for (const auto& f : application.stages) minimum += esg_profile::candidate(f, configuration(1, 1, 1)).cost;
  EXPECT_NEAR(eight.paths[0].cost / minimum, 0.78, 0.005);
}

TEST(Esg1q, EqualsBruteForceOnEsgsApplications) {
  SearchWorkspace workspace;
  for (const auto& application :
       {esg_profile::image_classification(), esg_profile::depth_recognition(), esg_profile::background_elimination()}) {
    const auto chain = application.candidates();
    for (const double scale : {0.8, 1.0, 1.2}) {
      const double budget = scale * application.minimum_ms();
      const auto result = esg_1q(SortedStages(chain, 8, Keep::all), {.budget_ms = budget, .k = 5}, workspace);
      expect_same(result.paths, *brute_force({.stages = chain, .budget_ms = budget, .batch_cap = 8}, 5));
    }
  }
}

TEST(Esg1q, FindsNothingWhenTheCapLeavesAStageWithoutACandidate) {
  const std::vector<Candidates> chain{{candidate(1, 1, 1)}, {candidate(4, 1, 1)}, {candidate(1, 1, 1)}};
  SearchWorkspace workspace;
  EXPECT_TRUE(esg_1q(SortedStages(chain, 2, Keep::all), {.budget_ms = 9}, workspace).paths.empty());
  EXPECT_EQ(esg_1q(SortedStages(chain, 4, Keep::all), {.budget_ms = 9}, workspace).paths.size(), 1u);
  EXPECT_TRUE(esg_1q(SortedStages({}, 4, Keep::all), {.budget_ms = 9}, workspace).paths.empty());
}

TEST(Esg1q, BudgetsThatNothingMeetsGiveNothing) {
  const std::vector<Candidates> chain{{candidate(1, 1, 1)}, {candidate(1, 2, 1)}};
  const SortedStages stages(chain, kNoBatchCap, Keep::all);
  SearchWorkspace workspace;
  for (const double budget : {0.0, -5.0, -kForever, std::nextafter(3.0, 0.0)}) {
    EXPECT_TRUE(esg_1q(stages, {.budget_ms = budget}, workspace).paths.empty()) << budget;
  }
  EXPECT_EQ(esg_1q(stages, {.budget_ms = 3}, workspace).paths.size(), 1u);
}

TEST(Esg1q, ReusesItsMemory) {
  const auto application = esg_profile::image_classification();
  const SortedStages stages(application.candidates(), 8, Keep::all);
  SearchWorkspace workspace;
  const EsgQuery query{.budget_ms = application.minimum_ms()};
  const Path* paths = esg_1q(stages, query, workspace).paths.data();
  const Prefix* prefixes = workspace.prefixes.data();
  EXPECT_EQ(esg_1q(stages, query, workspace).paths.data(), paths);
  EXPECT_EQ(workspace.prefixes.data(), prefixes);
}

}  // namespace
}  // namespace sluice::plan
