#include "plan/rivals/esg_1q_lazy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/esg_profile.h"
#include "support/random_candidates.h"

namespace sluice::plan {
namespace {

// ESG_1Q as it is written, to compare with.
class ByTheBook {
 public:
  // Says whether anything was found.
  bool expect_same(const std::vector<Candidates>& chain, BatchCap cap, const EsgQuery& query) {
    const SearchResult book = esg_1q(SortedStages(chain, cap, SortedStages::Keep::all), query, book_);
    const SearchResult lazy = esg_1q_lazy(IndexedStages(chain, cap), query, lazy_);
    EXPECT_EQ(lazy.expansions, book.expansions);
    EXPECT_EQ(lazy.paths.size(), book.paths.size());
    for (std::size_t i = 0; i < std::min(lazy.paths.size(), book.paths.size()); ++i) {
      EXPECT_EQ(lazy.paths[i].cost, book.paths[i].cost) << i;  // to the bit
      EXPECT_EQ(lazy.paths[i].ms, book.paths[i].ms) << i;
      EXPECT_TRUE(std::equal(lazy.paths[i].candidates.begin(), lazy.paths[i].candidates.end(),
                             book.paths[i].candidates.begin(), book.paths[i].candidates.end()))
          << i;
    }
    return !book.paths.empty();
  }

 private:
  SearchWorkspace book_;
  LazyWorkspace lazy_;  // the same for all, as in the scheduler
};

TEST(Esg1qLazy, EqualsEsg1qOnRandomChains) {
  Rng rng(1);
  ByTheBook book;
  int found = 0;
  for (int i = 0; i < 20'000; ++i) {
    SCOPED_TRACE(i);
    const auto chain = random_chain(rng, i % 2 == 0);
    const BatchCap cap = rng.chance(0.5) ? kNoBatchCap : static_cast<BatchCap>(rng.below(9));
    found += book.expect_same(
        chain, cap, {.budget_ms = random_budget(rng, chain), .k = 1 + rng.below(6), .distinct_first = rng.chance(0.5)});
    if (HasFailure()) return;
  }
  EXPECT_GT(found, 10'000);
}

// More candidates than there are bits in a word, with ties in half of them, and so many prefixes that they are made in
// several steps.
TEST(Esg1qLazy, EqualsEsg1qOnWideStages) {
  Rng rng(2);
  ByTheBook book;
  int found = 0;
  for (int i = 0; i < 120; ++i) {
    SCOPED_TRACE(i);
    std::vector<Candidates> chain(2 + rng.below(2));
    for (Candidates& stage : chain) stage = random_candidates(rng, 60 + rng.below(80), i % 2 == 0);
    const double budget_ms = rng.chance(0.3) ? random_budget(rng, chain) : rng.uniform(5, 60);
    found += book.expect_same(chain, kNoBatchCap,
                              {.budget_ms = budget_ms, .k = 1 + rng.below(30), .distinct_first = rng.chance(0.5)});
    if (HasFailure()) return;
  }
  EXPECT_GT(found, 60);
}

TEST(Esg1qLazy, EqualsEsg1qOnItsOwnApplications) {
  ByTheBook book;
  for (const auto& application : {esg_profile::image_classification(), esg_profile::depth_recognition()}) {
    for (const BatchCap cap : {1u, 4u, 32u}) {
      for (const bool distinct_first : {false, true}) {
        for (const double share : {0.3, 0.55, 0.8, 1.0, 1.2, 3.0}) {
          SCOPED_TRACE(testing::Message() << application.name << ' ' << cap << ' ' << distinct_first << ' ' << share);
          (void)book.expect_same(application.candidates(), cap,
                                 {.budget_ms = share * application.minimum_ms(), .distinct_first = distinct_first});
          if (HasFailure()) return;
        }
      }
    }
  }
}

// 0.1 + 0.2 is more than 0.3 by rounding alone, which the sums that bound it cannot see.
TEST(Esg1qLazy, RoundsAsPathsDo) {
  const std::vector<Candidates> chain{{{.configuration = configuration(1, 1, 1), .ms = 0.1, .cost = 1}},
                                      {{.configuration = configuration(1, 1, 1), .ms = 0.2, .cost = 1}}};
  ByTheBook book;
  EXPECT_FALSE(book.expect_same(chain, kNoBatchCap, {.budget_ms = 0.3}));
  EXPECT_TRUE(book.expect_same(chain, kNoBatchCap, {.budget_ms = 0.1 + 0.2}));
}

// Where ESG_1Q itself takes seconds and gigabytes.
TEST(Esg1qLazy, AnswersForFiveStages) {
  const auto application = esg_profile::expanded_image_classification();
  const auto chain = application.candidates();
  LazyWorkspace workspace;
  const SearchResult found =
      esg_1q_lazy(IndexedStages(chain, kNoBatchCap), {.budget_ms = application.minimum_ms()}, workspace);
  ASSERT_EQ(found.paths.size(), 5u);
  EXPECT_LE(found.paths[0].ms, application.minimum_ms());
  EXPECT_LT(workspace.search.prefixes.size(), found.expansions / 10);
}

}  // namespace
}  // namespace sluice::plan
