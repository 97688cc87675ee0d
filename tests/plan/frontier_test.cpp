// The frontier algebra against its plain definition, on frontiers of a size that brute force over plans cannot reach.
#include "plan/frontier.h"

#include <gtest/gtest.h>

#include <array>

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

// Costs that are lowered step by step do not come out as zero exactly, and must not come out below.
TEST(Frontier, SeriesTakesWhatParallelRoundsToNothing) {
  Rng rng(4);
  std::size_t free_ones = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<Frontier> parts;
    for (int p = 0; p < 3; ++p) {
      parts.push_back(
          Frontier({{.ms = rng.uniform(1, 2), .cost = rng.uniform(0, 1)}, {.ms = rng.uniform(3, 4), .cost = 0}}));
    }
    const std::array<const Frontier*, 3> children{&parts[0], &parts[1], &parts[2]};
    const Frontier region = parallel(children, 3, 100);
    EXPECT_GE(region.cheapest(), 0);
    free_ones += region.cheapest() == 0;
    expect_exact_series(region, parts[0]);
  }
  EXPECT_GT(free_ones, 50u);
}

TEST(Frontier, PicksFewPointsAndSaysWhatThatMayCost) {
  Rng rng(5);
  for (int i = 0; i < 100; ++i) {
    const Frontier exact = staircase(rng, 1 + rng.below(300));
    std::vector<Frontier::Point> picked;
    const double error = pick(exact.points(), 4, picked);
    EXPECT_LE(picked.size(), 17u);
    EXPECT_EQ(picked.front().cost, exact[0].cost);
    EXPECT_EQ(picked.back().cost, exact.cheapest());
    for (const Frontier::Point& point : picked) EXPECT_EQ(point.ms, exact[point.left].ms);
    for (const Frontier::Point& point : exact.points()) {
      const std::size_t count = Frontier::count_within(picked, point.ms);
      ASSERT_GT(count, 0u);
      EXPECT_LE(picked[count - 1].cost, point.cost * (1 + error) * (1 + 1e-12));
    }
    EXPECT_EQ(pick(exact.points(), 64, picked), 0);
    EXPECT_EQ(picked.size(), exact.size());
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
