// Where the objects of a request are: what members of batches and answers say of it, and what follows from a loss.
#include <gtest/gtest.h>

#include "core/scene.h"
#include "domain/limits.h"

namespace sluice::core {
namespace {

using Places = std::vector<InvokerId>;

// Machines of one vCPU each, so that two batches at once are on two machines.
Scene over_machines(std::vector<Stage> stages, std::uint32_t machines) {
  Scene scene(std::move(stages));
  for (std::uint32_t m = 0; m < machines; ++m) scene.invoker(m, 1);
  return scene;
}
// What is told at the next decision.
Reply replied(Scene& scene) {
  Commands commands;
  scene.scheduler().decide(scene.scheduler().now(), commands);
  for (const Command& command : commands.list) {
    if (const auto* reply = std::get_if<Reply>(&command.action)) return *reply;
  }
  ADD_FAILURE() << "nobody was answered";
  return {};
}
void not_run(Scene& scene, const StartBatch& batch) {
  BatchFinished event{.id = batch.id};
  for (const BatchMember& member : batch.members)
    event.results.push_back({.id = member.invocation, .outcome = Outcome::not_run, .error = "ObjectLost"});
  scene.see(event);
}

TEST(Places, OneMachineNamesNoOther) {
  Scene scene({stage("a"), stage("b", {0})});
  (void)scene.invoker(0).invoker(1).arrive(1).decide();
  (void)scene.finish().decide();
  ASSERT_EQ(scene.started().size(), 1u);
  EXPECT_EQ(scene.started().front().members[0].places.capacity(), 0u);  // nothing is allocated for it
}

TEST(Places, AReaderNamesEveryOtherMachineThatHasRunSomethingOfItsRequest) {
  Scene scene = over_machines({stage("a"), stage("b"), stage("c", {0, 1})}, 3);
  EXPECT_EQ(scene.arrive(1).decide(), (Starts{"a of 1", "b of 1"}));
  const InvokerId first = scene.started()[0].invoker, second = scene.started()[1].invoker;
  ASSERT_NE(first, second);
  (void)scene.finish().finish().decide();
  ASSERT_EQ(scene.started().size(), 1u);
  const StartBatch& c = scene.started()[0];
  Places others;
  for (const InvokerId one : {std::min(first, second), std::max(first, second)}) {
    if (one != c.invoker) others.push_back(one);
  }
  EXPECT_EQ(c.members[0].places, others);
}

// A condition may compare what both leave: the one that ends last must know of the other.
TEST(Places, OfTwoThatRunSideBySideTheLaterOneNamesTheOther) {
  Scene scene = over_machines({stage("a"), stage("b")}, 2);
  (void)scene.arrive(1).decide();
  ASSERT_EQ(scene.started().size(), 2u);
  EXPECT_EQ(scene.started()[0].members[0].places, Places{});
  EXPECT_EQ(scene.started()[1].members[0].places, Places{scene.started()[0].invoker});
}

TEST(Places, AMachineThatIsLostIsNamedNoMore) {
  Scene scene = over_machines({stage("a"), stage("b")}, 3);
  (void)scene.arrive(1).decide();
  const InvokerId second = scene.started()[1].invoker;
  EXPECT_EQ(scene.lose(scene.started()[0].invoker.value()).decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.started().back().members[0].places, Places{second});
}

TEST(Places, AMachineThatJoinsAgainAndStillRunsSomethingIsNamedAsBefore) {
  Scene scene = over_machines({stage("a"), stage("b"), stage("c", {1})}, 2);
  (void)scene.arrive(1).decide();
  const StartBatch a = scene.started()[0], b = scene.started()[1];
  scene.see(InvokerJoined{.id = a.invoker,
                          .epoch = 1,
                          .session = 2,
                          .capacity = {.vcpu = 1, .gpus = 1, .slices_per_gpu = 7},
                          .warm = true,
                          .running = {{a.id, a.instance, a.configuration, a.positions, {a.members[0].invocation}}}});
  EXPECT_EQ(scene.finish(b).decide(), Starts{"c of 1"});
  EXPECT_EQ(scene.started().back().members[0].places, Places{a.invoker});
}

TEST(Places, AMemberNamesOnlySoMany) {
  Stage each = stage("a");
  each.foreach = Foreach{};
  const auto machines = static_cast<std::uint32_t>(limits::places_max + 2);
  Scene scene = over_machines({each}, machines);
  (void)scene.arrive(1, {}, {{StageId(0), machines}}).decide();
  ASSERT_EQ(scene.started().size(), machines);
  EXPECT_EQ(scene.started().back().members[0].places.size(), limits::places_max);
}

TEST(Places, AnAnswerSaysWhichRunItsOutputsAreOfAndWhereTheyAre) {
  Scene scene = over_machines({stage("a"), stage("b")}, 2);
  (void)scene.arrive(1).decide();
  const std::uint64_t run = scene.started()[0].members[0].run;
  scene.finish().finish().reload();
  const Reply reply = replied(scene);
  EXPECT_EQ(reply.outermost, run);
  EXPECT_EQ(reply.places, (Places{InvokerId(0), InvokerId(1)}));
}

TEST(Places, AnAnswerWithoutOutputsNamesNothing) {
  Scene scene = over_machines({stage("a")}, 1);
  (void)scene.arrive(1).decide();
  scene.finish("NoFace");
  const Reply reply = replied(scene);
  EXPECT_EQ(reply.outermost, 0u);
  EXPECT_EQ(reply.places, Places{});
}

TEST(Places, AMachineThatOnlyFailedIsToldWhenTheRequestIsOver) {
  Scene scene = over_machines({stage("a")}, 2);
  (void)scene.arrive(1).decide();
  const InvokerId first = scene.started()[0].invoker;
  scene.see(InvokerDraining{first});
  (void)scene.crash().decide();
  ASSERT_NE(scene.started()[0].invoker, first);
  (void)scene.finish().decide();
  EXPECT_EQ(scene.said(), (Starts{"release 1 at 0", "release 1 at 1"}));
}

// --- an object is not where it should be

TEST(Places, AMachineThatLostSomethingAndStillRunsSomethingIsToldInTheEnd) {
  Scene scene = over_machines({stage("a"), stage("b")}, 2);
  (void)scene.arrive(1).decide();
  (void)scene.see(ObjectLost{InvokerId(0), RequestId(1)}).see(RequestCancelled{RequestId(1)}).decide();
  EXPECT_EQ(scene.said()[0], "release 1 at 0");
}

TEST(Places, WhatCouldNotReadItsInputsBeginsAgainIfTheyAreLost) {
  Scene scene({stage("a"), stage("b", {0})});
  (void)scene.invoker(0).arrive(1).decide();
  EXPECT_EQ(scene.finish().decide(), Starts{"b of 1"});
  const StartBatch b = scene.started()[0];
  EXPECT_EQ(scene.see(ObjectLost{b.invoker, RequestId(1)}).decide(), Starts{});  // it runs, and may have read it
  scene.started().clear();
  not_run(scene, b);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
}

TEST(Places, WhatCouldNotReadItsInputsIsTriedOnlySoOften) {
  Scene scene({stage("a")}, "fifo", {.attempts_max = 2});
  (void)scene.invoker(0).arrive(1).decide();
  for (int i = 0; i < 3; ++i) {
    const StartBatch a = scene.started()[0];
    scene.started().clear();
    not_run(scene, a);
    (void)scene.decide();
  }
  EXPECT_EQ(scene.replies(), Starts{"1 failed ObjectLost"});
}

TEST(Places, WhatMustNotRunTwiceAndDidNotRunMayBeginAgain) {
  Stage b = stage("b", {0});
  b.idempotent = false;
  Scene scene({stage("a"), b});
  (void)scene.invoker(0).arrive(1).decide();
  (void)scene.finish().decide();
  const StartBatch batch = scene.started()[0];
  scene.see(ObjectLost{batch.invoker, RequestId(1)});
  scene.started().clear();
  not_run(scene, batch);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.replies(), Starts{});
}

}  // namespace
}  // namespace sluice::core
