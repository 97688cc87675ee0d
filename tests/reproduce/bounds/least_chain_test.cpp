#include "reproduce/bounds/least_chain.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/rng.h"

namespace sluice::reproduce {
namespace {

struct Way {
  double ms, cost;
};

double brute_force(const std::vector<std::vector<Way>>& stages, std::size_t from, double budget) {
  if (from == stages.size()) return 0;
  double best = std::numeric_limits<double>::infinity();
  for (const Way& way : stages[from]) {
    if (way.ms <= budget) best = std::min(best, way.cost + brute_force(stages, from + 1, budget - way.ms));
  }
  return best;
}

TEST(LeastChain, IsNeverAboveBruteForceAndHardlyBelow) {
  Rng rng(4);
  LeastChain chain;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<Way>> stages(1 + rng.below(4));
    for (auto& ways : stages) {
      for (int i = 0; i < 8; ++i) ways.push_back({rng.uniform(1, 100), rng.uniform(1, 10)});
    }
    const double budget = rng.uniform(20, 200);
    chain.start(budget);
    for (const auto& ways : stages) {
      for (const Way& way : ways) chain.offer(way.ms, way.cost);
      chain.next_stage();
    }
    EXPECT_LE(chain.least_cost(), brute_force(stages, 0, budget) + 1e-9);
    EXPECT_GE(chain.least_cost(), brute_force(stages, 0, budget * 1.005) - 1e-9);
  }
}

TEST(LeastChain, SaysThatThereIsNoWay) {
  LeastChain chain;
  chain.start(10);
  chain.offer(11, 1);
  chain.next_stage();
  EXPECT_EQ(chain.least_cost(), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace sluice::reproduce
