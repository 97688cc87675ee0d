// Reserved admission: what is promised is kept. The scheduler is `admission`; a stage takes exactly 10 ms, and 0.5 ms
// more where it reads what another stage left on the same machine.
#include <gtest/gtest.h>

#include "core/scene.h"

namespace sluice::core {
namespace {

Time ms(double at) {
  return Time::from_ns(Duration::ms(at).count_ns());
}

Scene promising(std::vector<Stage> stages) {
  auto application = application_of(std::move(stages));
  for (Function& f : application->functions) {
    for (ProfileRow& row : std::get<ProfileTable>(f.profile).rows) row.sd_ms = 0;
  }
  return Scene(std::move(application), "admission");
}

TEST(Promises, LetsInWhatFitsAndRefusesTheRestWithBothNumbers) {
  Scene scene = promising({stage("a")});
  scene.invoker(0, 1).within(15).arrive(1).arrive(2);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.replies(), Starts{"2 rejected: needs 20 of 15"});
  EXPECT_EQ(scene.last_reject().reason, RejectReason::slo_infeasible);
}

TEST(Promises, ARefusalSaysWhatTheFastestPlanWouldNeed) {
  Scene scene = promising({stage("a")});
  (void)scene.invoker(0).within(5).arrive(1).decide();
  EXPECT_EQ(scene.replies(), Starts{"1 rejected: needs 10 of 5"});
}

TEST(Promises, SaysWhenARequestWillBeDone) {
  Scene scene = promising({stage("a"), stage("b", {0})});
  (void)scene.invoker(0).within(50).arrive(1).decide();
  EXPECT_EQ(scene.last_accept().promised_finish, ms(20.5));
}

TEST(Promises, RefusesWhatCostsTooMuchWithBothNumbers) {
  Scene scene = promising({stage("a")});
  const double cost = Prices{}.per_ms(configuration(1, 1, 1)) * 10;
  scene.invoker(0).see(RequestArrived{.id = RequestId(1),
                                      .application = ApplicationId(0),
                                      .deadline = ms(100),
                                      .cost_limit = PicoDollars::from_dollars(cost / 2)});
  (void)scene.decide();
  EXPECT_EQ(scene.last_reject().reason, RejectReason::cost_exceeded);
  EXPECT_DOUBLE_EQ(scene.last_reject().needed, cost);
  EXPECT_NEAR(scene.last_reject().available, cost / 2, 1e-12);
}

TEST(Promises, SaysWhenARefusedRequestMayBePromisedItsTime) {
  Scene scene = promising({stage("a")});
  (void)scene.invoker(0, 1).within(15).arrive(1).arrive(2).decide();
  EXPECT_EQ(scene.last_reject().reason, RejectReason::slo_infeasible);
  EXPECT_EQ(scene.last_reject().retry_after, Duration::ms(5));  // after that of request 1 it would end at 20
}

TEST(Promises, RefusesWhatFitsOnNoMachine) {
  Scene scene = promising({stage("a")});
  (void)scene.arrive(1).decide();
  EXPECT_EQ(scene.last_reject().reason, RejectReason::no_capacity);
  EXPECT_EQ(scene.last_reject().retry_after, std::nullopt);
}

TEST(Promises, AWorkflowWithForeachCannotBeReserved) {
  Stage b = stage("b", {0});
  b.foreach = Foreach{.over = {StageId(0), "items"}};
  Scene scene = promising({stage("a"), b});
  (void)scene.invoker(0).arrive(1, {}, {{StageId(1), 2}}).decide();
  EXPECT_EQ(scene.last_reject().reason, RejectReason::not_reservable);
}

TEST(Promises, ALaterStageStartsAtItsPromisedTime) {
  Scene scene = promising({stage("a"), stage("b", {0})});
  scene.invoker(0, 1).within(100).arrive(1).arrive(2);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.wake_ms(), 20.5);  // request 2 comes after both stages of request 1
  EXPECT_EQ(scene.at(10).finish().decide(), Starts{"b of 1"});
  EXPECT_EQ(scene.at(20.5).finish().decide(), Starts{"a of 2"});
}

TEST(Promises, APromisedSlotIsNotGivenToOthers) {
  Scene scene = promising({stage("a")});
  scene.invoker(0, 1).within(100).arrive(1).arrive(2);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  scene.at(5).crash();  // again from 5 to 15 would take what request 2 was promised, which may as well begin now
  EXPECT_EQ(scene.decide(), Starts{"a of 2"});
  EXPECT_EQ(scene.at(15).finish().decide(), Starts{"a of 1"});
}

TEST(Promises, ARetryThatItsOwnPromisesLeaveNoRoomForIsTriedAgain) {
  Scene scene = promising({stage("a"), stage("b", {0})});
  scene.invoker(0, 1).within(100).arrive(1);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.at(5).crash().decide(), Starts{});  // from 5 to 15 would meet what b was promised
  Starts starts;
  for (int i = 0; i < 4 && starts.empty(); ++i) starts = scene.at(scene.wake_ms()).decide();  // nothing else happens
  EXPECT_EQ(starts, Starts{"a of 1"});
  EXPECT_EQ(scene.at(40).finish().decide(), Starts{"b of 1"});
}

TEST(Promises, OfASkippedStageAreFreeAgain) {
  Stage b = stage("b", {0});
  b.when = Condition{.kind = Condition::Kind::compare};
  Scene scene = promising({stage("a"), b, stage("c", {0, 1})});
  scene.invoker(0, 1).within(100).arrive(1, {{StageId(1), false}});
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.at(10).finish().decide(), Starts{"c of 1"});  // where b would have run
}

TEST(Promises, AreKeptWhereNothingNewBegins) {
  Scene scene = promising({stage("a"), stage("b", {0})});
  scene.invoker(0, 1).within(100).arrive(1).arrive(2);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  (void)scene.see(InvokerDraining{InvokerId(0)}).arrive(3).decide();
  EXPECT_EQ(scene.last_reject().reason, RejectReason::no_capacity);
  EXPECT_EQ(scene.at(10).finish().decide(), Starts{"b of 1"});
  EXPECT_EQ(scene.at(20.5).finish().decide(), Starts{"a of 2"});
  EXPECT_EQ(scene.at(30.5).finish().decide(), Starts{"b of 2"});
}

TEST(Promises, WhatCannotStartInTimeAnyMoreIsDropped) {
  Scene scene = promising({stage("a")});
  scene.invoker(0, 1).within(25).arrive(1).arrive(2);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.at(10).decide(), Starts{});  // request 1 takes longer than it should
  EXPECT_NEAR(scene.wake_ms(), 15, 1e-5);
  EXPECT_EQ(scene.at(15.01).decide(), Starts{});
  EXPECT_EQ(scene.replies(), Starts{"2 deadline exceeded DeadlineExceeded"});
}

TEST(Promises, OfACancelledRequestAreFreeAgain) {
  Scene scene = promising({stage("a")});
  scene.invoker(0, 1).within(20).arrive(1).arrive(2).arrive(3);
  (void)scene.decide();
  EXPECT_EQ(scene.replies(), Starts{"3 rejected: needs 30 of 20"});
  (void)scene.see(RequestCancelled{RequestId(2)}).arrive(4).decide();
  EXPECT_EQ(scene.replies().back(), "2 cancelled");  // and 4 was let in
  EXPECT_EQ(scene.at(10).finish().decide(), Starts{"a of 4"});
}

TEST(Promises, EndWithTheInvokerThatWasToKeepThem) {
  Scene scene = promising({stage("a"), stage("b", {0})});
  scene.invoker(0).invoker(1).within(100).arrive(1);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  const std::uint32_t first = scene.started().front().invoker.value();
  EXPECT_EQ(scene.at(5).lose(first).decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.at(15).finish().decide(), Starts{"b of 1"});
  EXPECT_NE(scene.started().front().invoker.value(), first);
}

TEST(Promises, StartWithTheWindowInWhichTheyCanBeKept) {
  Scene scene = promising({stage("a")});
  (void)scene.invoker(0).within(25).arrive(1).decide();
  EXPECT_EQ(scene.started().front().earliest, ms(0));
  EXPECT_EQ(scene.started().front().latest, ms(15));
}

}  // namespace
}  // namespace sluice::core
