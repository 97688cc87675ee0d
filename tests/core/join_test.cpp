// A machine joins: what it runs, has loaded and holds against what the scheduler believes.
#include <gtest/gtest.h>

#include "core/scene.h"

namespace sluice::core {
namespace {

// The machine of Scene::invoker(0), after a gap in its link.
InvokerJoined again(std::uint64_t session = 1) {
  return {.id = InvokerId(0),
          .epoch = 1,
          .session = session,
          .capacity = {.vcpu = 4, .gpus = 1, .slices_per_gpu = 7},
          .warm = true};
}
// The machine of Scene::cold_invoker(0).
InvokerJoined cold_again() {
  return {.id = InvokerId(0),
          .epoch = 1,
          .session = 1,
          .capacity = {.vcpu = 4, .memory = Bytes::gb(64), .gpus = 1, .gpu_memory = Bytes::gb(40)}};
}

RunningBatch running(const StartBatch& start) {
  RunningBatch out{
      .id = start.id, .instance = start.instance, .configuration = start.configuration, .positions = start.positions};
  for (const BatchMember& member : start.members) out.invocations.push_back(member.invocation);
  return out;
}

TEST(Join, WhatStillRunsAfterAGapStaysAndIsExpectedToFinish) {
  Scene scene({stage("a")});
  (void)scene.invoker(0, 4).arrive(1).decide();
  InvokerJoined join = again();
  join.running = {running(scene.started().front())};
  EXPECT_EQ(scene.see(join).decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{});
  (void)scene.finish().decide();
  EXPECT_EQ(scene.replies(), Starts{"1 finished"});
}

TEST(Join, WhatRanBeforeTheGapAndDoesNotRunAfterItIsTriedAgain) {
  Scene scene({stage("a")});
  (void)scene.invoker(0, 4).arrive(1).arrive(2).decide();
  ASSERT_EQ(scene.started().size(), 2u);
  InvokerJoined join = again();
  join.running = {running(scene.started()[1])};
  EXPECT_EQ(scene.see(join).decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.scheduler().batches_running(), 2u);
}

TEST(Join, AJoinThatIsDeliveredTwiceChangesNothing) {
  Scene scene({stage("a")});
  (void)scene.invoker(0, 4).see(again()).arrive(1).decide();
  EXPECT_EQ(scene.see(again()).decide(), Starts{});
  EXPECT_EQ(scene.see(again(0)).decide(), Starts{});  // and one that is late
  (void)scene.finish().decide();
  EXPECT_EQ(scene.replies(), Starts{"1 finished"});
}

TEST(Join, TheEndOfAnEarlierSessionIsNotTheEndOfThisOne) {
  Scene scene({stage("a")});
  (void)scene.invoker(0, 4).see(again()).arrive(1).decide();
  EXPECT_EQ(scene.see(InvokerLost{.id = InvokerId(0), .epoch = 1, .session = 0}).decide(), Starts{});
  (void)scene.finish().decide();
  EXPECT_EQ(scene.replies(), Starts{"1 finished"});
}

TEST(Join, WhatNobodyKnowsIsBookedUntilItHasStopped) {
  Scene scene({stage("a")});
  InvokerJoined join = again();
  join.running = {{.id = BatchId(40), .configuration = configuration(1, 4, 7), .positions = {0, 0x7F}}};
  EXPECT_EQ(scene.see(join).arrive(1).decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{"cancel batch 40"});
  EXPECT_EQ(scene.reload().see(BatchFailed{.id = BatchId(40), .error = "Cancelled"}).decide(), Starts{"a of 1"});
  EXPECT_GT(scene.started().front().id, BatchId(40));  // numbers are never used again
}

TEST(Join, WhatNobodyKnewAndHasStoppedIsBookedNoMore) {
  Scene scene({stage("a")});
  InvokerJoined join = again();
  join.running = {{.id = BatchId(40), .configuration = configuration(1, 4, 7), .positions = {0, 0x7F}}};
  EXPECT_EQ(scene.see(join).arrive(1).decide(), Starts{});
  join.session = 2;
  EXPECT_EQ(scene.see(join).decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{"cancel batch 40"});  // it still runs
  EXPECT_EQ(scene.see(again(3)).decide(), Starts{"a of 1"});
}

TEST(Join, ABatchThatIsToStopIsToldAgain) {
  Scene scene({stage("a")});
  (void)scene.invoker(0, 4).arrive(1).decide();
  (void)scene.see(RequestCancelled{RequestId(1)}).decide();
  InvokerJoined join = again();
  join.running = {running(scene.started().front())};
  (void)scene.see(join).decide();
  EXPECT_EQ(scene.said(), Starts{"cancel batch 0"});
}

TEST(Join, AMachineThatWasGivenUpIsStoppedWhenItComesBack) {
  Scene scene({stage("a")});
  (void)scene.invoker(0, 4).invoker(1, 1).arrive(1).decide();
  const StartBatch first = scene.started().front();
  EXPECT_EQ(scene.lose(first.invoker.value()).decide(), Starts{"a of 1"});
  InvokerJoined join = again();
  join.id = first.invoker;
  join.running = {running(first)};
  (void)scene.see(join).decide();
  EXPECT_EQ(scene.said(), Starts{str("cancel batch ", first.id.value())});
  EXPECT_EQ(scene.finish(first).scheduler().batches_running(), 1u);
}

TEST(Join, SlicesThatOthersHoldAreNotGivenTwice) {
  Scene scene({stage("a")});
  InvokerJoined join = again();
  const RunningBatch one{.id = BatchId(40), .configuration = configuration(1, 1, 1), .positions = {0, 1}};
  RunningBatch other = one;
  other.id = BatchId(41);
  RunningBatch elsewhere = one;
  elsewhere.id = BatchId(42);
  elsewhere.positions.gpu = 9;
  join.running = {one, other, elsewhere};
  (void)scene.see(join).decide();
  EXPECT_EQ(scene.said(), (Starts{"cancel batch 40", "cancel batch 41", "cancel batch 42"}));
  EXPECT_EQ(scene.scheduler().batches_running(), 1u);
}

TEST(Join, ObjectsThatAreStillThereAreNotMadeAgain) {
  Stage b = stage("b", {0});
  b.wait = Duration::ms(50);
  for (const bool held : {true, false}) {
    Scene scene({stage("a"), b});
    (void)scene.invoker(0, 4).arrive(1).decide();
    (void)scene.at(10).finish().decide();
    InvokerJoined join = again();
    if (held) join.objects = {RequestId(1)};
    EXPECT_EQ(scene.at(20).see(join).decide(), held ? Starts{} : Starts{"a of 1"});
    if (held) {
      EXPECT_EQ(scene.at(60).decide(), Starts{"b of 1"});
    }
  }
}

TEST(Join, ObjectsOfRequestsThatAreOverMayGo) {
  Scene scene({stage("a")});
  InvokerJoined join = again();
  join.objects = {RequestId(7)};
  (void)scene.see(join).decide();
  EXPECT_EQ(scene.said(), Starts{"release 7 at 0"});
}

TEST(Join, ObjectsOfARequestThatRunsGoWithIt) {
  Scene scene({stage("a")});
  (void)scene.invoker(0, 4).arrive(1).decide();
  InvokerJoined join = again();
  join.running = {running(scene.started().front())};
  join.objects = {RequestId(1)};
  (void)scene.see(join).decide();
  EXPECT_EQ(scene.said(), Starts{});
  (void)scene.finish().decide();
  EXPECT_EQ(scene.said(), Starts{"release 1 at 0"});
}

TEST(Join, WhatIsLoadedAndWhatMovesStaysAcrossAGap) {
  Scene scene({stage("a", {}, 0)});
  (void)scene.cold_invoker(0).arrive(1).decide();
  ASSERT_EQ(scene.said(), Starts{"load f at 0"});
  InstanceStatus f{.id = scene.last_load().instance,
                   .application = ApplicationId(0),
                   .function = FunctionId(0),
                   .level = Level::none,
                   .moving_to = Level::device};
  InvokerJoined join = cold_again();
  join.instances = {f};
  EXPECT_EQ(scene.see(join).decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{});  // it is on its way
  EXPECT_EQ(scene.loaded().decide(), Starts{"a of 1"});
  f.level = Level::device;
  f.moving_to.reset();
  join.session = 2;
  join.instances = {f};
  join.running = {running(scene.started().front())};
  EXPECT_EQ(scene.see(join).decide(), Starts{});
  (void)scene.finish().arrive(2).decide();
  EXPECT_EQ(scene.said(), Starts{"release 1 at 0"});
  EXPECT_EQ(scene.started().size(), 1u);
}

TEST(Join, ALoadThatTheGapSwallowedIsCommandedAgain) {
  Scene scene({stage("a", {}, 0)});
  (void)scene.cold_invoker(0).arrive(1).decide();
  (void)scene.see(cold_again()).decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
}

TEST(Join, AnotherShapeIsAnotherMachine) {
  Scene scene({stage("a")});
  (void)scene.invoker(0, 4).arrive(1).decide();
  InvokerJoined join = again();
  join.capacity.slices_per_gpu = 3;
  join.running = {running(scene.started().front())};
  EXPECT_EQ(scene.see(join).decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.said(), Starts{"cancel batch 0"});
}

}  // namespace
}  // namespace sluice::core
