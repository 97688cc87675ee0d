// The frontier algebra against its plain definition, on frontiers of a size that brute force over plans cannot reach.
#include "plan/frontier.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/random_candidates.h"

namespace sluice::plan {
namespace {

Frontier random_frontier(Rng& rng, std::size_t candidates, bool whole) {
  return stage_frontier(random_candidates(rng, candidates, whole), kNoBatchCap);
}

// Times up to `points` whole numbers, costs likewise: sums tie often, and nothing is dominated.
Frontier staircase(Rng& rng, std::size_t points) {
  std::vector<Frontier::Point> out;
  double ms = 0, cost = 5 * static_cast<double>(points);
  for (std::uint32_t i = 0; i < points; ++i) {
    ms += 1 + static_cast<double>(rng.below(4));
    cost -= 1 + static_cast<double>(rng.below(4));
    out.push_back({.ms = ms, .cost = cost, .left = i});
  }
  return Frontier(std::move(out));
}

std::vector<Frontier::Point> all_sums(const Frontier& first, const Frontier& rest) {
  std::vector<Frontier::Point> out;
  for (std::uint32_t i = 0; i < first.size(); ++i) {
    for (std::uint32_t j = 0; j < rest.size(); ++j) {
      out.push_back({first[i].ms + rest[j].ms, first[i].cost + rest[j].cost, i, j});
    }
  }
  return out;
}

void expect_exact_series(const Frontier& first, const Frontier& rest) {
  const auto expected = undominated(all_sums(first, rest));
  const Frontier made = series(first, rest, 1u << 20);
  ASSERT_EQ(made.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(made[i], expected[i]);
  EXPECT_EQ(made.error(), 0);
}

TEST(Frontier, SeriesKeepsExactlyTheSumsNobodyDominates) {
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    expect_exact_series(staircase(rng, 1 + rng.below(200)), staircase(rng, 1 + rng.below(200)));
    expect_exact_series(random_frontier(rng, 1000, false), random_frontier(rng, 1000, false));
    expect_exact_series(random_frontier(rng, 1 + rng.below(20), true), staircase(rng, 1 + rng.below(50)));
  }
}

TEST(Frontier, SeriesWithNothingToDoChangesNothing) {
  Rng rng(2);
  const Frontier part = staircase(rng, 30);
  const Frontier made = series(part, nothing_to_do(), 1000);
  ASSERT_EQ(made.size(), part.size());
  for (std::uint32_t i = 0; i < part.size(); ++i) {
    EXPECT_EQ(made[i], (Frontier::Point{.ms = part[i].ms, .cost = part[i].cost, .left = i, .right = 0}));
  }
}

TEST(Frontier, ThinningKeepsTheEndsAndSaysWhatItMayCost) {
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const Frontier exact = staircase(rng, 20 + rng.below(200));
    const std::size_t points_max = 2 + rng.below(20);
    const Frontier coarse = thinned(exact, points_max);
    EXPECT_LE(coarse.size(), points_max);
    EXPECT_EQ(coarse[0], exact[0]);
    EXPECT_EQ(coarse.cheapest(), exact.cheapest());
    double largest = 0;
    for (const Frontier::Point& point : exact.points()) {
      if (point.cost > 0) largest = std::max(largest, coarse[coarse.within(point.ms)].cost / point.cost - 1);
    }
    EXPECT_EQ(coarse.error(), largest);
    EXPECT_GT(largest, 0);
  }
}

}  // namespace
}  // namespace sluice::plan
