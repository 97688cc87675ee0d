// What is lost is made again, within limits; what is done is cleaned up.
#include <gtest/gtest.h>

#include "core/scene.h"

namespace sluice::core {
namespace {

ObjectLost lost(std::uint64_t request, std::uint32_t invoker = 0) {
  return {.invoker = InvokerId(invoker), .request = RequestId(request)};
}

TEST(Recovery, ARequestWhoseObjectsWereLostBeginsAgain) {
  Scene scene({stage("a"), stage("b", {0})});
  scene.invoker(0, 1).arrive(1);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.finish().see(lost(1)).decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.finish().decide(), Starts{"b of 1"});
  (void)scene.finish().decide();
  EXPECT_EQ(scene.replies(), Starts{"1 finished"});
}

TEST(Recovery, WhatNobodyReadsAnyMoreIsNotMissed) {
  Scene scene({stage("a"), stage("b", {0}), stage("c", {1})});
  scene.invoker(0).invoker(1).arrive(1);
  (void)scene.decide();
  (void)scene.finish().decide();
  EXPECT_EQ(scene.see(lost(1)).decide(), Starts{});  // b runs and has read it
  EXPECT_EQ(scene.finish().decide(), Starts{"c of 1"});
}

TEST(Recovery, WhatARunningBatchReadIsMissedWhenItFails) {
  Scene scene({stage("a"), stage("b", {0})});
  scene.invoker(0).arrive(1);
  (void)scene.decide();
  (void)scene.finish().decide();
  EXPECT_EQ(scene.see(lost(1)).crash().decide(), Starts{"a of 1"});
}

TEST(Recovery, ARequestBeginsAgainOnlySoOften) {
  Scene scene({stage("a"), stage("b", {0})}, "fifo", {.attempts_max = 2});
  (void)scene.invoker(0, 1).arrive(1).decide();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(scene.finish().see(lost(1)).decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.finish().see(lost(1)).decide(), Starts{});
  EXPECT_EQ(scene.replies(), Starts{"1 failed ObjectLost"});
}

TEST(Recovery, ARequestDoesNotBeginAgainIfWhatRanMustNotBeRepeated) {
  Stage a = stage("a");
  a.idempotent = false;
  Scene scene({a, stage("b", {0})});
  (void)scene.invoker(0, 1).arrive(1).decide();
  EXPECT_EQ(scene.finish().see(lost(1)).decide(), Starts{});
  EXPECT_EQ(scene.replies(), Starts{"1 failed ObjectLost"});
}

TEST(Recovery, ALostInvokerTakesTheObjectsItHeldAlong) {
  Stage b = stage("b", {0});
  b.wait = Duration::ms(50);
  Scene scene({stage("a"), b});
  (void)scene.invoker(0).invoker(1).arrive(1).decide();
  const std::uint32_t first = scene.started().front().invoker.value();
  EXPECT_EQ(scene.at(10).finish().decide(), Starts{});
  EXPECT_EQ(scene.at(20).lose(first).decide(), Starts{"a of 1"});
}

TEST(Recovery, ABatchThatFailsIsRepeatedOnlySoOften) {
  Scene scene({stage("a")}, "fifo", {.attempts_max = 2});
  (void)scene.invoker(0).arrive(1).decide();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(scene.crash().decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.crash().decide(), Starts{});
  EXPECT_EQ(scene.replies(), Starts{"1 failed WorkerCrashed"});
}

TEST(Recovery, ObjectsOfAFinishedRequestAreReleasedOncePerInvoker) {
  Scene scene({stage("a"), stage("b", {0}), stage("c", {1})});
  scene.invoker(0, 1).arrive(1);
  for (int i = 0; i < 3; ++i) {
    (void)scene.decide();
    EXPECT_EQ(scene.said(), Starts{});
    scene.finish();
  }
  (void)scene.decide();
  EXPECT_EQ(scene.said(), Starts{"release 1 at 0"});
}

TEST(Recovery, WhatIsMadeForARequestThatIsOverMayGoAtOnce) {
  Scene scene({stage("a")});
  (void)scene.invoker(0, 1).arrive(1).decide();
  (void)scene.see(RequestCancelled{RequestId(1)}).decide();
  (void)scene.finish().decide();  // it was done before it heard that it should stop
  EXPECT_EQ(scene.said(), Starts{"release 1 at 0"});
}

TEST(Recovery, WhatNobodyWaitsForAnyMoreGoesWithItsRequest) {
  Stage c = stage("c", {0, 1});
  c.join = {Join::Kind::at_least, 1};
  Scene scene({stage("a"), stage("b"), c});
  (void)scene.invoker(0, 1).invoker(1, 1).arrive(1).decide();
  const StartBatch a = scene.started()[0], b = scene.started()[1];
  ASSERT_NE(a.invoker, b.invoker);
  EXPECT_EQ(scene.finish(a).decide(), Starts{"c of 1"});
  scene.finish(b);  // c has begun without it
  const StartBatch last = scene.started()[2];
  (void)scene.finish(last).decide();
  EXPECT_EQ(scene.said(), (Starts{str("release 1 at ", a.invoker.value()), str("release 1 at ", b.invoker.value())}));
}

TEST(Recovery, AnInvokerThatJoinsAgainHasLostWhatItRan) {
  Scene scene({stage("a")});
  (void)scene.invoker(0, 1).arrive(1).decide();
  EXPECT_EQ(scene.invoker(0, 1, 7, 2).decide(), Starts{"a of 1"});
  scene.finish();  // of its earlier life: nobody waits for it
  EXPECT_EQ(scene.replies(), Starts{});
  (void)scene.finish().decide();
  EXPECT_EQ(scene.replies(), Starts{"1 finished"});
}

}  // namespace
}  // namespace sluice::core
