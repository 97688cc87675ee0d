// Runs inside runs: how they are named, and who may say what about them when.
#include <gtest/gtest.h>

#include "core/scene.h"

namespace sluice::core {
namespace {

Stage each(const std::string& name, std::vector<Stage> body, std::uint32_t limit = 0) {
  Stage out = stage(name);
  out.kind = Stage::Kind::pass;
  out.function = FunctionId::none();
  Workflow workflow;
  workflow.stages = std::move(body);
  out.foreach = Foreach{.limit = limit, .body = {workflow}};
  return out;
}
Stage asked(Stage stage) {
  stage.when = Condition{.kind = Condition::Kind::compare};
  return stage;
}
// The oldest batch that runs ends well, and its invocation knows this.
void finish(Scene& scene, std::vector<Verdict> verdicts, std::vector<FanOut> fan_outs = {}) {
  const StartBatch batch = scene.started().front();
  scene.started().erase(scene.started().begin());
  BatchFinished event{.id = batch.id, .measured = Duration::ms(10), .held = Duration::ms(10)};
  for (const BatchMember& member : batch.members) {
    event.results.push_back({.id = member.invocation, .verdicts = verdicts, .fan_outs = fan_outs});
  }
  scene.see(event);
}

TEST(Foreach, InvocationsSayInWhichRunOfTheirRequestTheyAre) {
  Scene scene({stage("a"), each("rows", {each("cells", {stage("f")})})});
  scene.invoker(0).arrive(1, {}, {{StageId(1), 2}, {StageId(0), 2, {{StageId(1), 1}}}});
  (void)scene.decide();
  ASSERT_EQ(scene.started().size(), 4u);
  const BatchMember& own = scene.started()[0].members[0];
  EXPECT_EQ(own.path, RunPath{});
  EXPECT_EQ(own.outermost(), own.run);
  // The last run that was started begins first.
  const RunPath paths[] = {
      {{StageId(1), 1}, {StageId(0), 1}}, {{StageId(1), 1}, {StageId(0), 0}}, {{StageId(1), 0}, {StageId(0), 0}}};
  for (std::size_t i = 0; i < 3; ++i) {
    const BatchMember& member = scene.started()[i + 1].members[0];
    EXPECT_EQ(member.path, paths[i]) << i;
    EXPECT_EQ(member.outermost(), own.run);
    EXPECT_NE(member.run, own.run);
  }
}

TEST(Foreach, WhatIsSaidOfRunsBeforeTheyBeginIsKeptForThem) {
  Scene scene({stage("a"), each("each", {asked(stage("x")), asked(stage("y"))}, 1), stage("z", {1})});
  scene.invoker(0).arrive(1,
                          {{StageId(0), true, {{StageId(1), 0}}},
                           {StageId(1), false, {{StageId(1), 0}}},
                           {StageId(1), true, {{StageId(1), 1}}}},
                          {{StageId(1), 2}});
  EXPECT_EQ(scene.reload().decide(), (Starts{"a of 1", "each/x of 1"}));
  EXPECT_EQ(scene.finish().reload().finish().decide(), Starts{"each/y of 1"});
  EXPECT_EQ(scene.finish().decide(), Starts{"z of 1"});
}

TEST(Foreach, WhatIsSaidLastOfARunThatHasNotBegunCounts) {
  Stage inner = each("each", {asked(stage("x")), stage("y")});
  inner.after = {StageId(0)};
  Scene scene({stage("a"), inner});
  scene.invoker(0).arrive(1, {{StageId(0), true, {{StageId(1), 0}}}});
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  finish(scene, {{StageId(0), false, {{StageId(1), 0}}}}, {{StageId(1), 1}});
  EXPECT_EQ(scene.decide(), Starts{"each/y of 1"});
}

TEST(Foreach, TheLastInvocationInsideSaysWhatFollowsInTheRunAround) {
  Stage z = asked(stage("z", {0}));
  Stage again = each("again", {stage("y")});
  again.after = {StageId(0)};
  Scene scene({each("each", {stage("x")}), z, again});
  scene.invoker(0).arrive(1, {}, {{StageId(0), 1}});
  EXPECT_EQ(scene.decide(), Starts{"each/x of 1"});
  finish(scene, {{StageId(1), true}}, {{StageId(2), 2}});
  EXPECT_EQ(scene.reload().decide(), (Starts{"z of 1", "again/y of 1", "again/y of 1"}));
}

TEST(Foreach, WhatIsSaidOfRunsThatCannotBeIsForgotten) {
  Scene scene({each("each", {asked(stage("x")), stage("y")})});
  scene.invoker(0).arrive(1,
                          {{StageId(0), true, {{StageId(9), 0}}},
                           {StageId(9), true, {{StageId(0), 0}}},
                           {StageId(0), true, {{StageId(0), 7}}}},
                          {{StageId(9), 3}, {StageId(0), 1}});
  EXPECT_EQ(scene.decide(), Starts{"each/y of 1"});
  finish(scene, {{StageId(0), true, {{StageId(0), 0}, {StageId(5), 0}}}});
  (void)scene.reload().decide();
  EXPECT_EQ(scene.replies(), Starts{"1 finished"});
}

// The stages that requests failed at, as told at the next decision.
std::vector<StageId> failed_at(Scene& scene) {
  Commands commands;
  scene.scheduler().decide(Time::from_ns(0), commands);
  std::vector<StageId> out;
  for (const Command& command : commands.list) {
    if (const auto* reply = std::get_if<Reply>(&command.action)) out.push_back(reply->stage);
  }
  return out;
}

TEST(Foreach, AFailureInsideNamesTheOutermostStage) {
  Scene scene({stage("a"), each("rows", {each("cells", {stage("f"), stage("g", {0})})})});
  scene.invoker(0).arrive(1);
  (void)scene.decide();
  scene.finish(StartBatch(scene.started()[1]), "NoFace");
  EXPECT_EQ(failed_at(scene), std::vector<StageId>{StageId(1)});
}

TEST(Foreach, AStageInsideThatFailsAlwaysNamesTheOutermostStage) {
  Stage fails = stage("fails");
  fails.kind = Stage::Kind::fail;
  fails.function = FunctionId::none();
  Scene scene({stage("a"), each("each", {stage("f"), fails})});
  scene.invoker(0).arrive(1);
  EXPECT_EQ(failed_at(scene), std::vector<StageId>{StageId(1)});
}

TEST(Foreach, ARequestThatBeginsAgainKnowsOnlyWhatCameWithIt) {
  Stage inner = each("each", {asked(stage("x")), stage("y")});
  inner.after = {StageId(0)};
  Scene scene({stage("a"), inner, stage("z", {1})});
  scene.invoker(0).invoker(1).arrive(1, {}, {{StageId(1), 1}});
  (void)scene.decide();
  const std::uint64_t first = scene.started().front().members[0].outermost();
  const InvokerId where = scene.started().front().invoker;
  finish(scene, {{StageId(0), true, {{StageId(1), 0}}}});
  scene.lose(where.value());
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  EXPECT_NE(scene.started().back().members[0].outermost(), first);
  scene.finish(scene.started().back());
  EXPECT_EQ(scene.decide(), Starts{"each/y of 1"});
}

}  // namespace
}  // namespace sluice::core
