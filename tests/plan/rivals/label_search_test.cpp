#include "plan/rivals/label_search.h"

#include <gtest/gtest.h>

#include "plan/rivals/brute_force.h"
#include "plan/rivals/esg_1q.h"
#include "support/esg_profile.h"
#include "support/random_candidates.h"

namespace sluice::plan {
namespace {

using Keep = SortedStages::Keep;

TEST(LabelSearch, EqualsBruteForceOnRandomChains) {
  Rng rng(5);
  SearchWorkspace workspace;
  for (int i = 0; i < 8'000; ++i) {
    const auto chain = random_chain(rng, i % 2 == 0);
    const BatchCap cap = rng.chance(0.5) ? kNoBatchCap : static_cast<BatchCap>(rng.below(9));
    double budget = rng.chance(0.1) ? 0 : rng.uniform(0, 200);
    if (rng.chance(0.7)) {  // exactly what some path takes, where rounding decides
      budget = 0;
      for (const Candidates& candidates : chain) {
        if (!candidates.empty()) budget += candidates[rng.below(candidates.size())].ms;
      }
    }
    const auto expected = *brute_force({.stages = chain, .budget_ms = budget, .batch_cap = cap}, 1);
    const Keep keep = rng.chance(0.8) ? Keep::pareto : Keep::all;
    const SearchResult result = label_search(SortedStages(chain, cap, keep), budget, workspace);
    ASSERT_EQ(result.paths.size(), expected.size()) << i;
    if (expected.empty()) continue;
    ASSERT_EQ(result.paths[0].cost, expected[0].cost) << i;
    ASSERT_EQ(result.paths[0].ms, expected[0].ms) << i;
    double ms = 0;
    for (std::size_t s = 0; s < chain.size(); ++s) ms += chain[s][result.paths[0].candidates[s]].ms;
    ASSERT_EQ(ms, expected[0].ms) << i;
  }
}

TEST(LabelSearch, FindsWhatEsg1qFindsWithFarFewerExpansions) {
  SearchWorkspace workspace;
  for (const auto& application :
       {esg_profile::image_classification(), esg_profile::depth_recognition(), esg_profile::background_elimination()}) {
    const auto chain = application.candidates();
    for (const double scale : {0.8, 1.0, 1.2}) {
      const double budget = scale * application.minimum_ms();
      const SearchResult esg = esg_1q(SortedStages(chain, kNoBatchCap, Keep::all), {.budget_ms = budget}, workspace);
      ASSERT_FALSE(esg.paths.empty());
      const Dollars cost = esg.paths[0].cost;
      const std::uint64_t expansions = esg.expansions;
      const SearchResult label = label_search(SortedStages(chain, kNoBatchCap, Keep::pareto), budget, workspace);
      ASSERT_EQ(label.paths.size(), 1u);
      EXPECT_EQ(label.paths[0].cost, cost) << application.name << scale;
      EXPECT_LT(label.expansions * 50, expansions) << application.name << scale;
    }
  }
}

TEST(LabelSearch, FindsNothingWithoutACandidate) {
  SearchWorkspace workspace;
  const std::vector<Candidates> chain{{{.configuration = configuration(4, 1, 1), .ms = 1, .cost = 1}}, {}};
  EXPECT_TRUE(label_search(SortedStages(chain, kNoBatchCap, Keep::pareto), 10, workspace).paths.empty());
  EXPECT_TRUE(label_search(SortedStages({}, kNoBatchCap, Keep::pareto), 10, workspace).paths.empty());
  const std::span<const Candidates> first(chain.data(), 1);
  EXPECT_TRUE(label_search(SortedStages(first, 3, Keep::pareto), 10, workspace).paths.empty());
  EXPECT_EQ(label_search(SortedStages(first, 4, Keep::pareto), 1, workspace).paths.size(), 1u);
}

}  // namespace
}  // namespace sluice::plan
