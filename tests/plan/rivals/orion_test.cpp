#include "plan/rivals/orion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"
#include "support/esg_profile.h"
#include "support/tree_builder.h"

namespace sluice::plan {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

WorkflowModel chain_model(std::vector<Candidates> stages) {
  WorkflowModel model;
  for (Candidates& candidates : stages) model.stages.push_back({.candidates = std::move(candidates)});
  model.tree = tree_builder::chain_of(static_cast<std::uint32_t>(model.stages.size()));
  return model;
}

Candidates random_grid(Rng& rng) {
  Candidates out;
  for (const int batch : {1, 2}) {
    for (const int vcpu : {1, 2}) {
      for (const int slices : {1, 2, 4})
        out.push_back({configuration(batch, vcpu, slices), rng.uniform(1, 100), rng.uniform(1, 10)});
    }
  }
  return out;
}

double p95(const std::vector<const Candidate*>& path) {
  double mean = 0, squares = 0;
  for (const Candidate* c : path) {
    mean += c->ms;
    squares += 0.05 * c->ms * 0.05 * c->ms;
  }
  return mean + 1.645 * std::sqrt(squares);
}

// With room for all states the search is exhaustive: the cheapest plan in time, or else the fastest.
TEST(Orion, EqualsExhaustiveSearchWhenItMaySeeEverything) {
  Rng rng(1);
  OrionWorkspace workspace;
  int feasible = 0;
  for (int i = 0; i < 200; ++i) {
    const Candidates a = random_grid(rng), b = random_grid(rng);
    const double budget = rng.uniform(5, 120);
    const BatchCap cap = rng.chance(0.5) ? 1 : kNoBatchCap;
    double cheapest = kForever, fastest = kForever;
    for (const Candidate& x : a) {
      for (const Candidate& y : b) {
        if (x.configuration.batch > cap || y.configuration.batch > cap) continue;
        fastest = std::min(fastest, p95({&x, &y}));
        if (p95({&x, &y}) <= budget) cheapest = std::min(cheapest, x.cost + y.cost);
      }
    }
    const OrionPlan plan = OrionSearch(chain_model({a, b}), {}).find(budget, cap, workspace);
    const std::vector path{&a[plan.candidates[0]], &b[plan.candidates[1]]};
    EXPECT_NEAR(plan.p95_ms, p95(path), 1e-9);
    EXPECT_NEAR(plan.cost, path[0]->cost + path[1]->cost, 1e-9);
    EXPECT_EQ(plan.states, cap == 1 ? 36u : 144u);
    EXPECT_EQ(plan.feasible, cheapest < kForever);
    EXPECT_NEAR(plan.feasible ? plan.cost : plan.p95_ms, plan.feasible ? cheapest : fastest, 1e-9);
    feasible += plan.feasible ? 1 : 0;
  }
  EXPECT_GT(feasible, 50);
  EXPECT_LT(feasible, 200);
}

TEST(Orion, StepsOneKnobOfOneStageAtATimeByP95TimesCost) {
  // 100 ms at 10, or 60 ms at 12, or 50 ms at 20: P95 · cost is 1082, 779, 1082 (times the other stage's).
  const Candidates one{
      {configuration(1, 1, 1), 100, 10}, {configuration(1, 1, 2), 60, 12}, {configuration(1, 1, 4), 50, 20}};
  OrionWorkspace workspace;
  const OrionSearch search(chain_model({one}), {.stop_first = true});
  EXPECT_EQ(search.find(200, 1, workspace).states, 1u);  // at once, the least everywhere
  EXPECT_EQ(search.find(70, 1, workspace).candidates, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(search.find(70, 1, workspace).states, 2u);
  const OrionPlan none = search.find(40, 1, workspace);
  EXPECT_FALSE(none.feasible);
  EXPECT_EQ(none.candidates, (std::vector<std::uint32_t>{2}));  // the lowest P95 seen
}

TEST(Orion, OpensTheLowestP95TimesCostFirst) {
  const Candidates one{{configuration(1, 1, 1), 100, 10},  // 1000
                       {configuration(1, 2, 1), 50, 30},   // 1500
                       {configuration(1, 1, 2), 80, 11}};  // 880
  OrionWorkspace workspace;
  const OrionPlan plan = OrionSearch(chain_model({one}), {.stop_first = true}).find(90, 1, workspace);
  EXPECT_EQ(plan.candidates, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(plan.states, 2u);
}

TEST(Orion, StopsAfterItsStatesWithTheBestSoFar) {
  const auto application = esg_profile::expanded_image_classification();
  const WorkflowModel model = chain_model(application.candidates());
  OrionWorkspace workspace;
  double before = kForever;
  for (const std::size_t states : {50u, 500u, 5000u}) {
    const OrionPlan plan =
        OrionSearch(model, {.states_max = states}).find(1.2 * application.minimum_ms(), kNoBatchCap, workspace);
    EXPECT_EQ(plan.states, states);
    EXPECT_TRUE(plan.feasible);
    EXPECT_LE(plan.cost, before);
    before = plan.cost;
  }
}

TEST(Orion, AWorkspaceThatWasUsedChangesNothing) {
  const auto application = esg_profile::depth_recognition();
  const OrionSearch search(chain_model(application.candidates()), {});
  OrionWorkspace used, fresh;
  (void)search.find(500, kNoBatchCap, used);
  EXPECT_EQ(search.find(1000, 4, used), search.find(1000, 4, fresh));
}

// Nine stages of 256 are more than 64 bits of positions: keys are hashes then, and the plan is as good.
TEST(Orion, PlansLongChains) {
  std::vector<Candidates> stages(9, esg_profile::candidates(esg_profile::kSuperResolution));
  OrionWorkspace workspace;
  const OrionPlan plan = OrionSearch(chain_model(stages), {}).find(9 * 86 * 0.95, 1, workspace);
  EXPECT_TRUE(plan.feasible);
  EXPECT_EQ(plan.candidates.size(), 9u);
  EXPECT_EQ(plan.states, 5000u);
}

TEST(Orion, TakesTheSlowestPathOfAWorkflowWithBranches) {
  using namespace tree_builder;
  const Candidates fixed{{configuration(1, 1, 1), 10, 1}};
  const Candidates slow{{configuration(1, 1, 1), 100, 1}, {configuration(1, 1, 2), 50, 3}};
  WorkflowModel model = chain_model({fixed, slow, slow});
  model.tree = tree_of(series({stage(0), parallel({stage(1), stage(2)})}));
  OrionWorkspace workspace;
  const OrionSearch search(model, {.sigma = 0});
  EXPECT_EQ(search.find(110, 1, workspace).candidates, (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_EQ(search.find(110, 1, workspace).p95_ms, 110);
  EXPECT_EQ(search.find(109, 1, workspace).candidates, (std::vector<std::uint32_t>{0, 1, 1}));  // both branches
  EXPECT_EQ(search.find(109, 1, workspace).cost, 7);
}

TEST(Orion, CountsWavesWaitsAndShares) {
  WorkflowModel model = chain_model({{{configuration(1, 1, 1), 10, 2}}});
  model.stages[0].scale = {.ms = 3, .cost = 0.5};
  model.stages[0].wait_ms = 7;
  OrionWorkspace workspace;
  const OrionPlan plan = OrionSearch(model, {.sigma = 0}).find(37, 1, workspace);
  EXPECT_EQ(plan.p95_ms, 37);
  EXPECT_EQ(plan.cost, 1);
  EXPECT_TRUE(plan.feasible);
}

}  // namespace
}  // namespace sluice::plan
