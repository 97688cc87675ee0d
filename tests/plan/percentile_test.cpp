#include "plan/percentile.h"

#include <gtest/gtest.h>

#include "plan/fastest_rest.h"
#include "support/esg_profile.h"
#include "support/tree_builder.h"

namespace sluice::plan {
namespace {

WorkflowModel noisy_image_classification() {
  WorkflowModel model{.tree = tree_builder::chain_of(3)};
  for (const auto& f : {esg_profile::kSuperResolution, esg_profile::kSegmentation, esg_profile::kClassification}) {
    ModelStage stage{.name = std::string(f.name), .candidates = esg_profile::candidates(f)};
    for (const Candidate& c : stage.candidates) stage.sd_ms.push_back(0.05 * c.ms);
    model.stages.push_back(std::move(stage));
  }
  return model;
}

TEST(Percentile, AHigherPercentileCostsMoreAndHolds) {
  const FrontierPlanner planner(noisy_image_classification());
  FrontierWorkspace workspace;
  double last = 0;
  for (const double percentile : {50.0, 90.0, 99.0}) {
    const PercentilePlan plan =
        plan_for_percentile(planner, {.stage = 0, .cap = 8, .budget_ms = 526, .percentile = percentile}, workspace);
    ASSERT_TRUE(plan.found);
    EXPECT_GE(plan.options.front().cost, last);
    last = plan.options.front().cost;
    if (percentile > 50) {
      EXPECT_LE(plan.percentile_ms, 526);
    }
    EXPECT_LE(plan.options.front().ms, plan.mean_budget_ms * (1 + 1e-12));
  }
}

TEST(Percentile, UsesTheTimeThereIs) {
  const FrontierPlanner planner(noisy_image_classification());
  FrontierWorkspace workspace;
  const PercentilePlan plan =
      plan_for_percentile(planner, {.stage = 0, .cap = 8, .budget_ms = 526, .percentile = 95}, workspace);
  ASSERT_TRUE(plan.found);
  EXPECT_GT(plan.percentile_ms, 526 * 0.97);  // not far below the objective
}

TEST(Percentile, SaysNoWhenOnlyTheMeanFits) {
  const FrontierPlanner planner(noisy_image_classification());
  FrontierWorkspace workspace;
  const double fastest = FastestRest(planner.model(), 1).from(planner.model(), 0);
  EXPECT_TRUE(
      plan_for_percentile(planner, {.stage = 0, .cap = 1, .budget_ms = fastest * 1.001, .percentile = 50}, workspace)
          .found);
  EXPECT_FALSE(
      plan_for_percentile(planner, {.stage = 0, .cap = 1, .budget_ms = fastest * 1.001, .percentile = 99}, workspace)
          .found);
  EXPECT_FALSE(plan_for_percentile(planner, {.stage = 0, .cap = 1, .budget_ms = 0, .percentile = 50}, workspace).found);
}

TEST(Distribution, ConvolvesSeriesAndTakesMaximaOfParallels) {
  namespace tb = tree_builder;
  WorkflowModel model{.tree = tb::tree_of(tb::series({tb::stage(0), tb::parallel({tb::stage(1), tb::stage(2)})}))};
  for (const double ms : {100.0, 50.0, 50.0})
    model.stages.push_back({.name = "s", .candidates = {{configuration(1, 1, 1), ms, 1}}, .sd_ms = {ms / 10}});
  const std::vector<StageChoice> all(3, {true, 0});
  const Histogram whole = distribution(model, all, 0.5);
  EXPECT_NEAR(whole.mean(), 100 + 50 + 5 * 0.5642, 0.2);  // the larger of two equal normals: + sd/√π
  const std::vector<StageChoice> done = {{false, 0}, {true, 0}, {true, 0}};
  EXPECT_NEAR(distribution(model, done, 0.5).mean(), 50 + 5 * 0.5642, 0.2);
}

}  // namespace
}  // namespace sluice::plan
