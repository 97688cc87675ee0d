// The value table against what it stands for: enumeration, simulation of its own policy, and the frontiers.
#include "plan/value_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "plan/frontier_planner.h"
#include "plan/value_noise.h"
#include "support/esg_profile.h"
#include "support/random_candidates.h"
#include "support/tree_builder.h"

namespace sluice::plan {
namespace {

namespace tb = tree_builder;

ModelStage stage_of(Candidates candidates, double sigma) {
  ModelStage stage{.name = "s", .candidates = std::move(candidates)};
  for (const Candidate& c : stage.candidates) stage.sd_ms.push_back(sigma * c.ms);
  return stage;
}

WorkflowModel chain_model(std::vector<Candidates> stages, double sigma) {
  WorkflowModel model;
  model.tree = stages.size() == 1 ? tb::tree_of(tb::stage(0)) : tb::chain_of(static_cast<std::uint32_t>(stages.size()));
  for (Candidates& candidates : stages) model.stages.push_back(stage_of(std::move(candidates), sigma));
  return model;
}

Candidate candidate(double ms, Dollars cost, int batch = 1) {
  return {.configuration = configuration(batch, 1, 1), .ms = ms, .cost = cost};
}

// P(z ≤ u) for the cut normal, from the C library: an independent second opinion.
double distribution(double u) {
  if (u < -3) return 0;
  return u >= 3 ? 1 : 0.5 * std::erfc(-u / std::sqrt(2.0));
}

TEST(ValueTable, OneStagePaysTheCheapestMixOfCostAndMiss) {
  const WorkflowModel model = chain_model({{candidate(100, 1), candidate(50, 3)}}, 0.1);
  const auto table = ValueTable::build(model, {.miss_price = 20, .horizon_ms = 200, .step_ms = 0.5});
  for (double rest = 0; rest <= 200; rest += 7.5) {
    const double slow = 1 + 20 * (1 - distribution((rest - 100) / 10));
    const double fast = 3 + 20 * (1 - distribution((rest - 50) / 5));
    EXPECT_NEAR(table.expected(0, 0, 1, rest), slow, 1e-5) << rest;
    EXPECT_NEAR(table.expected(0, 1, 1, rest), fast, 1e-5) << rest;
    EXPECT_NEAR(table.value(0, 1, rest), std::min({20.0, slow, fast}), 1e-5) << rest;
    EXPECT_EQ(table.after(0, 1, rest), 0);
  }
}

// A tenth takes twice as long: with the time for that a second stage may be slow, and without it has to be fast.
TEST(ValueTable, KeepsTimeForStragglers) {
  WorkflowModel model = chain_model({{candidate(50, 1), candidate(25, 1.5)}, {candidate(50, 1)}}, 0);
  model.stages[0].stragglers = {.share = 0.1, .times = 2};
  const auto table = ValueTable::build(model, {.miss_price = 20, .horizon_ms = 200, .step_ms = 0.5});
  const auto expected = [&](std::uint32_t candidate, double rest) { return table.expected(0, candidate, 1, rest); };
  EXPECT_NEAR(expected(0, 155), 2, 1e-5);  // 100 + 50
  EXPECT_NEAR(expected(0, 145), 0.9 * 2 + 0.1 * (1 + 20), 1e-5) << "a straggler is hopeless";
  EXPECT_NEAR(expected(0, 105), 0.9 * 2 + 0.1 * (1 + 20), 1e-5);
  EXPECT_NEAR(expected(1, 105), 2.5, 1e-5) << "50 + 50";
  EXPECT_NEAR(table.value(0, 1, 105), 2.5, 1e-5) << "so the fast one is worth its price";
  EXPECT_NEAR(expected(1, 95), 0.9 * 2.5 + 0.1 * (1.5 + 20), 1e-5);
  // The last stage's own lateness counts as exactly.
  model.stages[0].stragglers = {};
  model.stages[1].stragglers = {.share = 0.1, .times = 2};
  const auto last = ValueTable::build(model, {.miss_price = 20, .horizon_ms = 200, .step_ms = 0.5});
  EXPECT_NEAR(last.value(1, 1, 99), 1 + 0.1 * 20, 1e-5);
  EXPECT_NEAR(last.value(1, 1, 101), 1, 1e-5);
}

TEST(ValueTable, HasTheMissPriceBelowZeroAndTheLastValueBeyondTheHorizon) {
  const auto table = ValueTable::build(chain_model({{candidate(100, 1)}}, 0.1), {.miss_price = 20, .horizon_ms = 200});
  EXPECT_EQ(table.value(0, 1, -1), 20);
  EXPECT_EQ(table.after(0, 1, -1), 20);
  EXPECT_EQ(table.expected(0, 0, 1, -1), 21);
  EXPECT_EQ(table.value(0, 1, 1e9), 1);
  EXPECT_EQ(table.value(0, 0, 100), 20) << "no candidate within the cap";
}

TEST(ValueTable, GivesUpEarlyWhenAMissIsCheap) {
  const WorkflowModel model = chain_model({{candidate(100, 1)}}, 0.1);
  const auto cheap = ValueTable::build(model, {.miss_price = 1.5, .horizon_ms = 200});
  const auto dear = ValueTable::build(model, {.miss_price = 1000, .horizon_ms = 200});
  EXPECT_TRUE(cheap.hopeless(0, 1, 95));  // worth it from a chance of two thirds on
  EXPECT_FALSE(cheap.hopeless(0, 1, 110));
  EXPECT_FALSE(dear.hopeless(0, 1, 95));
  EXPECT_TRUE(dear.hopeless(0, 1, 69));  // beyond the cut of the noise
}

// Being late costs less than any way on: what is late is run to its end by the cheapest way nevertheless, since giving
// up costs more.
TEST(ValueTable, RunsWhatIsLateWhereGivingUpCostsMore) {
  const WorkflowModel model = chain_model({{candidate(100, 1), candidate(50, 3)}, {candidate(100, 2)}}, 0.1);
  const auto table = ValueTable::build(model, {.miss_price = 0.5, .drop_price = 20, .horizon_ms = 400});
  EXPECT_NEAR(table.value(0, 1, -1), 1 + 2 + 0.5, 1e-5);
  EXPECT_NEAR(table.value(0, 1, 0), 1 + 2 + 0.5, 1e-5);
  EXPECT_NEAR(table.value(1, 1, -1), 2 + 0.5, 1e-5);
  EXPECT_NEAR(table.value(0, 1, 400), 1 + 2, 1e-5);
  EXPECT_NEAR(table.expected(0, 1, 1, 60), 3 + 2 + 0.5, 1e-2);  // faster, but the rest is late anyhow
  EXPECT_FALSE(table.hopeless(0, 1, -1));
  const auto dear = ValueTable::build(model, {.miss_price = 19, .drop_price = 20, .horizon_ms = 400});
  EXPECT_NEAR(dear.value(0, 1, -1), 20, 1e-5);  // then giving up is cheaper
}

// Two-point check of the recursion without any grid: noise replaced by its exact law, the second stage in closed form,
// the first by fine numerical integration.
TEST(ValueTable, TwoStagesEqualNumericalIntegration) {
  const WorkflowModel model =
      chain_model({{candidate(80, 1), candidate(40, 4)}, {candidate(120, 2), candidate(60, 5)}}, 0.08);
  constexpr double miss = 30;
  const auto table = ValueTable::build(model, {.miss_price = miss, .horizon_ms = 400, .step_ms = 0.5});
  const auto second = [&](double rest) {
    if (rest < 0) return miss;
    return std::min(
        {miss, 2 + miss * (1 - distribution((rest - 120) / 9.6)), 5 + miss * (1 - distribution((rest - 60) / 4.8))});
  };
  for (double rest = 40; rest < 400; rest += 11) {
    for (const auto& [index, ms, cost] : {std::tuple(0u, 80.0, 1.0), std::tuple(1u, 40.0, 4.0)}) {
      double sum = 0;
      const int slices = 2000;
      for (int i = 0; i < slices; ++i) {  // the middle of equally likely slices, by bisection of the distribution
        double low = -3, high = 3;
        const double p = (i + 0.5) / slices;
        for (int n = 0; n < 40; ++n) (distribution((low + high) / 2) < p ? low : high) = (low + high) / 2;
        sum += second(rest - ms - 0.08 * ms * low);
      }
      EXPECT_NEAR(table.expected(0, index, 1, rest), cost + sum / slices, 0.02) << rest;
    }
  }
}

// Following the table's own choices in a random world pays what the table says.
TEST(ValueTable, ItsOwnPolicyCostsWhatItSays) {
  Rng rng(5);
  const auto application = esg_profile::image_classification();
  const WorkflowModel model = chain_model(application.candidates(), 0.05);
  const Dollars miss = 9000 / 3.6e6;
  const auto table = ValueTable::build(model, {.miss_price = miss, .horizon_ms = 526});
  for (const double slo : {420.8, 526.0}) {
    double sum = 0, squares = 0;
    const int runs = 20000;
    for (int run = 0; run < runs; ++run) {
      double rest = slo, paid = 0;
      for (std::size_t s = 0; s < 3 && rest >= 0; ++s) {
        if (table.hopeless(s, 4, rest)) rest = -1;
        std::uint32_t best = 0;
        const auto decision = table.decide(s, 4, rest);
        for (std::uint32_t c = 0; c < 256; ++c) {
          if (model.stages[s].candidates[c].configuration.batch > 4) continue;
          if (decision.expected(c) < decision.expected(best)) best = c;
        }
        if (rest < 0) break;
        const Candidate& chosen = model.stages[s].candidates[best];
        paid += chosen.cost;
        rest -= chosen.ms * (1 + 0.05 * std::clamp(rng.normal(), -3.0, 3.0));
      }
      if (rest < 0) paid += miss;
      sum += paid;
      squares += paid * paid;
    }
    const double mean = sum / runs, error = std::sqrt((squares / runs - mean * mean) / runs);
    EXPECT_NEAR(mean, table.value(0, 4, slo), 4 * error + 0.003 * mean) << slo;
  }
}

TEST(ValueTable, FallsWithTimeAndWithTheCapAndStaysBelowTheMissPrice) {
  const WorkflowModel model = chain_model(esg_profile::depth_recognition().candidates(), 0.05);
  const Dollars miss = 9000 / 3.6e6;
  const auto table = ValueTable::build(model, {.miss_price = miss, .horizon_ms = 1233});
  for (std::size_t s = 0; s < 3; ++s) {
    for (const BatchCap cap : {1u, 2u, 3u, 4u, 8u, 32u, 1000u}) {
      double before = miss;
      for (double rest = 0; rest < 1400; rest += 1.7) {
        const double now = table.value(s, cap, rest);
        EXPECT_LE(now, before * (1 + 1e-6));
        EXPECT_LE(table.value(s, cap + 1, rest), now * (1 + 1e-6));
        EXPECT_LE(now, table.drop_price());
        before = now;
      }
    }
  }
}

// Without noise the table is the frontier, blurred by at most a step of the grid a stage.
TEST(ValueTable, WithoutNoiseEqualsTheFrontier) {
  Rng rng(11);
  for (int round = 0; round < 60; ++round) {
    std::vector<Candidates> stages = random_chain(rng, false);
    std::erase_if(stages, [](const Candidates& c) { return c.empty(); });
    if (stages.empty()) continue;
    const std::size_t count = stages.size();
    const FrontierPlanner planner(chain_model(stages, 0));
    const double horizon = 450, step = horizon / 900;
    const auto table = ValueTable::build(planner.model(), {.miss_price = 1, .horizon_ms = horizon, .step_ms = step});
    for (const BatchCap cap : {1u, 2u, 8u}) {
      for (std::size_t s = 0; s < count; ++s) {
        FrontierWorkspace workspace;
        const auto cheapest = [&](double budget) {
          const auto options = planner.query(s, cap, budget, workspace);
          return options.empty() ? 1.0 : options.front().cost;
        };
        for (double rest = 10; rest < 400; rest += 9.7) {
          const double blur = step * static_cast<double>(count);
          EXPECT_LE(table.value(s, cap, rest), cheapest(rest - blur) * (1 + 1e-5)) << rest;
          EXPECT_GE(table.value(s, cap, rest), cheapest(rest + blur) * (1 - 1e-5)) << rest;
        }
      }
    }
  }
}

TEST(ValueTable, ReservesTheOverheadForLaterStagesOnly) {
  const WorkflowModel model = chain_model({{candidate(80, 1)}, {candidate(120, 2)}}, 0.05);
  const auto plain = ValueTable::build(model, {.miss_price = 30, .horizon_ms = 400, .step_ms = 1});
  const auto reserved =
      ValueTable::build(model, {.miss_price = 30, .horizon_ms = 400, .step_ms = 1, .per_stage_overhead_ms = 10});
  for (double rest = 150; rest < 300; rest += 3) {
    EXPECT_NEAR(reserved.value(1, 1, rest), plain.value(1, 1, rest), 1e-6);
    EXPECT_NEAR(reserved.value(0, 1, rest + 10), plain.value(0, 1, rest), 1e-4);
    EXPECT_NEAR(reserved.after(0, 1, rest + 10), plain.after(0, 1, rest), 1e-4);
  }
}

TEST(ValueTable, PlansWithAtLeastTheFloorOfTheSpread) {
  const auto floor = ValueTable::build(chain_model({{candidate(100, 1)}}, 0),
                                       {.miss_price = 20, .horizon_ms = 200, .step_ms = 1, .sigma_floor = 0.1});
  const auto drawn =
      ValueTable::build(chain_model({{candidate(100, 1)}}, 0.1), {.miss_price = 20, .horizon_ms = 200, .step_ms = 1});
  for (double rest = 60; rest < 140; rest += 1) EXPECT_EQ(floor.value(0, 1, rest), drawn.value(0, 1, rest));
}

// A region is worth no less than its frontier says, and without noise it is exactly that.
TEST(ValueTable, ParallelBranchesWithoutNoiseEqualTheFrontier) {
  Rng rng(3);
  for (int round = 0; round < 40; ++round) {
    WorkflowModel model;
    model.tree = tb::tree_of(tb::series(
        {tb::stage(0), tb::parallel({tb::stage(1), tb::series({tb::stage(2), tb::stage(3)})}), tb::stage(4)}));
    for (int s = 0; s < 5; ++s) model.stages.push_back(stage_of(random_candidates(rng, 4, false), 0));
    for (ModelStage& s : model.stages) s.candidates[0].configuration.batch = 1;
    const FrontierPlanner planner(model);
    const double step = 0.5;
    const auto table = ValueTable::build(model, {.miss_price = 1, .horizon_ms = 500, .step_ms = step});
    FrontierWorkspace workspace;
    const auto cheapest = [&](double budget) {
      const auto options = planner.query(0, 8, budget, workspace);
      return options.empty() ? 1.0 : options.front().cost;
    };
    for (double rest = 10; rest < 480; rest += 9.7) {
      EXPECT_LE(table.value(0, 8, rest), cheapest(rest - 6 * step) * (1 + 1e-5));
      EXPECT_GE(table.value(0, 8, rest), cheapest(rest + 6 * step) * (1 - 1e-5));
    }
  }
}

// A foreach body is a series inside a series.
TEST(ValueTable, ASeriesInsideASeriesIsGivenAPartOfTheTime) {
  WorkflowModel model;
  model.tree = tb::tree_of(tb::series({tb::stage(0), tb::series({tb::stage(1), tb::stage(2)}), tb::stage(3)}));
  for (int s = 0; s < 4; ++s) model.stages.push_back(stage_of({candidate(40, 0.1), candidate(20, 0.3)}, 0));
  const auto table = ValueTable::build(model, {.miss_price = 10, .horizon_ms = 200, .step_ms = 0.5});
  EXPECT_NEAR(table.value(0, 1, 170), 0.4, 1e-4);
  EXPECT_NEAR(table.value(0, 1, 85), 1.2, 1e-4);
  EXPECT_NEAR(table.value(0, 1, 70), 10, 1e-4);
  EXPECT_NEAR(table.value(2, 1, 85), 0.2, 1e-4);
}

// Its levels one after the other: no better than the region, and no worse than everything in a row.
TEST(ValueTable, AnIrregularRegionIsNeverBetterThanItsFrontier) {
  Rng rng(8);
  for (int round = 0; round < 20; ++round) {
    WorkflowModel model, row;
    model.tree =
        tb::tree_of(tb::series({tb::stage(0), tb::irregular({tb::stage(1), tb::stage(2), tb::stage(3), tb::stage(4)},
                                                            {{0, 2}, {0, 3}, {1, 3}})}));
    row.tree = tb::chain_of(5);
    for (int s = 0; s < 5; ++s) model.stages.push_back(stage_of(random_candidates(rng, 4, false), 0));
    row.stages = model.stages;
    const FrontierPlanner planner(model), in_a_row(row);
    const double step = 0.5;
    const auto table = ValueTable::build(model, {.miss_price = 1, .horizon_ms = 500, .step_ms = step});
    FrontierWorkspace workspace;
    const auto cheapest = [&](const FrontierPlanner& by, double budget) {
      const auto options = by.query(0, 8, budget, workspace);
      return options.empty() ? 1.0 : options.front().cost;
    };
    for (double rest = 10; rest < 480; rest += 9.7) {
      EXPECT_GE(table.value(0, 8, rest), cheapest(planner, rest + 6 * step) * (1 - 1e-5));
      EXPECT_LE(table.value(0, 8, rest), cheapest(in_a_row, rest - 6 * step) * (1 + 1e-5));
    }
  }
}

TEST(ValueTable, WaitsForTheFastestBranchesIfAJoinNeedsFewer) {
  WorkflowModel model;
  model.tree = tb::tree_of(tb::series({tb::stage(0), tb::parallel_needing(1, {tb::stage(1), tb::stage(2)})}));
  model.stages = {stage_of({candidate(10, 1)}, 0), stage_of({candidate(20, 1)}, 0), stage_of({candidate(100, 3)}, 0)};
  const auto table = ValueTable::build(model, {.miss_price = 50, .horizon_ms = 200, .step_ms = 1});
  EXPECT_NEAR(table.value(0, 1, 31), 5, 1e-5);  // the slow branch runs as well, but nobody waits for it
  EXPECT_NEAR(table.value(0, 1, 28), 50, 1e-5);
}

// Enough time for every stage's worst luck: a region pays for all its branches, as its frontier says.
TEST(ValueTable, NoisyBranchesCostWhatTheyCostWhenThereIsTime) {
  WorkflowModel model;
  model.tree = tb::tree_of(tb::series({tb::stage(0), tb::parallel({tb::stage(1), tb::stage(2)}), tb::stage(3)}));
  for (int s = 0; s < 4; ++s) model.stages.push_back(stage_of({candidate(50, 1), candidate(25, 3)}, 0.1));
  const auto table = ValueTable::build(model, {.miss_price = 100, .horizon_ms = 400});
  EXPECT_NEAR(table.value(0, 1, 200), 4, 1e-4);
  EXPECT_TRUE(table.hopeless(0, 1, 50));
  EXPECT_GT(table.value(0, 1, 140), 4.5);
}

// The same bits with every compiler and library.
TEST(ValueTable, IsTheSameBitsEverywhere) {
  const WorkflowModel model =
      chain_model({{candidate(80, 1), candidate(40, 4)}, {candidate(120, 2), candidate(60, 5)}}, 0.08);
  const auto table = ValueTable::build(model, {.miss_price = 30, .horizon_ms = 400});
  EXPECT_EQ(table.value(0, 1, 117), 0x1.21635p+3);
  EXPECT_EQ(table.expected(0, 1, 1, 117), 0x1.21634fa4p+3);
}

TEST(NoiseKernel, KeepsMassAndMeanAndNearlyTheSpread) {
  for (const double mean : {0.3, 5.0, 77.7, 300.25}) {
    for (const double share : {0.0, 0.01, 0.05, 0.2, 1.0 / 3}) {
      const double sd = mean * share;
      const NoiseKernel kernel = noise_kernel(mean, sd);
      double mass = 0, first = 0, second = 0;
      for (std::size_t i = 0; i < kernel.weights.size(); ++i) {
        const double at = -(kernel.first + kernel.stride * static_cast<double>(i));
        mass += kernel.weights[i];
        first += kernel.weights[i] * at;
        second += kernel.weights[i] * at * at;
      }
      EXPECT_NEAR(mass, 1, 1e-6);
      EXPECT_NEAR(first, mean, 1e-5 * mean);
      const double cut = 0.9973 * sd * sd * 0.98 + 2 * 0.00135 * 9 * sd * sd;  // variance of the cut normal, about
      const double spread = second - first * first;
      EXPECT_NEAR(spread, cut, 0.03 * cut + 0.26 * kernel.stride * kernel.stride) << mean << " " << sd;
      EXPECT_LE(kernel.weights.size(), 40u);
    }
  }
}

}  // namespace
}  // namespace sluice::plan
