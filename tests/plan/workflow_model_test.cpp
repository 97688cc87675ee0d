#include "plan/workflow_model.h"

#include <gtest/gtest.h>

#include "plan/frontier_planner.h"

namespace sluice::plan {
namespace {

Function function(std::string name, double ms) {
  return {.name = std::move(name), .profile = ProfileTable{{{configuration(1, 1, 1), 1, ms, ms / 20, {}}}}};
}

Stage stage(std::string name, FunctionId::rep f, std::vector<StageId> after = {}) {
  return {.name = std::move(name), .function = FunctionId(f), .after = std::move(after)};
}

WorkflowModel model_of(const Application& application, const ModelAssumptions& assumptions = {}) {
  const auto profiles = make_profiles(application);
  EXPECT_TRUE(profiles.ok());
  auto model = make_model(application, *profiles, assumptions);
  EXPECT_TRUE(model.ok());
  return std::move(model).value();
}

double fastest(const WorkflowModel& model) {
  return FrontierPlanner(model).whole(1).fastest_ms();
}

TEST(WorkflowModel, LeavesErrorHandlersOut) {
  Application app{.functions = {function("f", 10)}};
  app.workflow.stages = {stage("a", 0), stage("b", 0, {StageId(0)}), stage("sorry", 0),
                         stage("after sorry", 0, {StageId(2)})};
  app.workflow.stages[0].catches = {{"all", StageId(2)}};
  const WorkflowModel model = model_of(app);
  EXPECT_EQ(model.stages.size(), 2u);
  EXPECT_DOUBLE_EQ(fastest(model), 20);
}

TEST(WorkflowModel, WeighsAlternativesByTheirShare) {
  Application app{.functions = {function("cheap", 10), function("dear", 100)}};
  app.workflow.stages = {stage("a", 0), stage("b", 1, {StageId(0)}), stage("c", 0, {StageId(0)}),
                         stage("d", 0, {StageId(1), StageId(2)})};
  app.workflow.stages[1].when =
      Condition{.kind = Condition::Kind::compare, .comparison = {{StageId(0), "s"}, Comparator::less, 1.0}};
  app.workflow.stages[2].when = Condition{.kind = Condition::Kind::otherwise};
  const WorkflowModel even = model_of(app);
  EXPECT_DOUBLE_EQ(even.stages[even.find("b")].scale.cost, 0.5);
  EXPECT_DOUBLE_EQ(even.stages[even.find("d")].scale.cost, 1);
  EXPECT_DOUBLE_EQ(fastest(even), 120);  // the worst branch
  const WorkflowModel rare = model_of(app, {.shares = {{"b", 0.1}, {"c", 0.9}}});
  EXPECT_LT(FrontierPlanner(rare).whole(1).cheapest(), FrontierPlanner(even).whole(1).cheapest());
}

TEST(WorkflowModel, MultipliesFanOutsAndTheirBodies) {
  Application app{.functions = {function("f", 10)}};
  Stage each = stage("each", 0, {StageId(0)});
  each.kind = Stage::Kind::pass;
  Workflow body;
  body.stages = {stage("x", 0), stage("y", 0, {StageId(0)})};
  each.foreach = Foreach{.over = {StageId(0), "items"}, .limit = 2, .body = {body}};
  app.workflow.stages = {stage("a", 0), each};
  const WorkflowModel model = model_of(app, {.items = {{"each", 5}}});
  ASSERT_LT(model.find("each/y"), model.stages.size());
  EXPECT_DOUBLE_EQ(model.stages[model.find("each/y")].scale.ms, 3);  // 5 items, 2 at a time
  EXPECT_DOUBLE_EQ(model.stages[model.find("each/y")].scale.cost, 5);
  EXPECT_DOUBLE_EQ(fastest(model), 10 + 3 * 20);
}

TEST(WorkflowModel, SaysWhichFunctionHasNoProfile) {
  const Application app{.functions = {function("f", 10), {.name = "g"}}};
  const auto profiles = make_profiles(app);
  ASSERT_FALSE(profiles.ok());
  EXPECT_NE(profiles.error().message.find("function 'g'"), std::string::npos);
}

// The profile's least batch is four: one, two and four invocations take as long, and pay for the whole batch.
TEST(WorkflowModel, RunsBatchesThatAreNotFullWhereNoSmallerOneIsKnown) {
  Application app;
  app.functions = {{.name = "f",
                    .profile = ProfileTable{{{configuration(4, 1, 1), 1, 100, 1, {}},
                                             {configuration(8, 1, 1), 1, 150, 1, {}},
                                             {configuration(1, 1, 2), 1, 30, 1, {}}}}}};
  app.workflow.stages = {stage("a", 0)};
  const WorkflowModel model = model_of(app);
  const Candidates& candidates = model.stages[0].candidates;
  ASSERT_EQ(candidates.size(), 5u);
  EXPECT_EQ(candidates[0].configuration, configuration(1, 1, 1));
  EXPECT_EQ(candidates[1].configuration, configuration(1, 1, 2));
  EXPECT_EQ(candidates[2].configuration, configuration(2, 1, 1));
  EXPECT_DOUBLE_EQ(candidates[0].ms, 100);
  EXPECT_DOUBLE_EQ(candidates[2].ms, 100);
  EXPECT_DOUBLE_EQ(candidates[0].cost, 4 * candidates[3].cost);
  app.workflow.stages[0].configurations.batch = {8};  // a document may leave out all small ones
  EXPECT_EQ(model_of(app).stages[0].candidates.front().configuration.batch, 1);
}

}  // namespace
}  // namespace sluice::plan
