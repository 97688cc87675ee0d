// What is loaded where: the rules of instances, each in about ten lines.
#include <gtest/gtest.h>

#include "core/scene.h"
#include "policy/keep_alive.h"

namespace sluice::core {
namespace {

// `fifo`, which gives instances up at once, with other ways to keep them.
MakePolicies keeping(double seconds) {
  return [=] {
    policy::Policies out = scheduler_named("fifo")();
    out.prewarm = policy::make_prewarm_keep_alive({{"keep_alive_s", seconds}});
    return out;
  };
}
policy::Policies learning() {
  policy::Policies out = scheduler_named("fifo")();
  out.prewarm = policy::make_prewarm_ewma({});
  return out;
}

// One application per function.
Scene three_functions(double gpu_gb, double host_gb) {
  Scene scene({stage("a", {}, 0)}, keeping(600));
  scene.deploy({stage("b", {}, 1)}).deploy({stage("c", {}, 2)}).cold_invoker(0, gpu_gb, host_gb);
  return scene;
}

// A request for an application whose function is not loaded, from its load to its answer.
void call(Scene& scene, std::uint32_t application, std::uint64_t id, double ms) {
  (void)scene.at(ms).to(application).arrive(id).decide();
  ASSERT_EQ(scene.at(ms + 120).loaded().decide().size(), 1u);
  (void)scene.at(ms + 130).finish().decide();
}

TEST(Instances, ABatchRunsOnlyWhereItsFunctionIsLoaded) {
  Scene scene({stage("a")});
  scene.cold_invoker(0).cold_invoker(1).arrive(1);
  EXPECT_EQ(scene.decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
  EXPECT_EQ(scene.at(120).loaded().decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.started().front().invoker, InvokerId(0));
  EXPECT_EQ(scene.started().front().instance, scene.last_load().instance);
}

TEST(Instances, WhoWaitsWhileAllAreBusyGetsAnother) {
  Scene scene({stage("a")});
  scene.cold_invoker(0).arrive(1);
  (void)scene.decide();
  (void)scene.at(120).loaded().decide();
  EXPECT_EQ(scene.at(121).arrive(2).decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
  EXPECT_EQ(scene.at(241).loaded().decide(), Starts{"a of 2"});
}

TEST(Instances, AnInstanceRunsAsManyBatchesAsItSays) {
  Scene scene({stage("a")});
  scene.cold_invoker(0).arrive(1).arrive(2).arrive(3);
  (void)scene.decide();
  scene.see(InstanceLoaded{.invoker = InvokerId(0), .instance = InstanceId(0), .level = Level::device, .batches = 2});
  EXPECT_EQ(scene.decide(), (Starts{"a of 1", "a of 2"}));
  EXPECT_EQ(scene.finish().decide(), Starts{"a of 3"});
}

TEST(Instances, UnderPressureTheIdleOneUsedLongestAgoGoesFirstToHostMemory) {
  Scene scene = three_functions(2, 64);
  call(scene, 0, 1, 0);
  call(scene, 1, 2, 200);
  (void)scene.at(400).to(2).arrive(3).decide();
  EXPECT_EQ(scene.said(), Starts{"lower f at 0"});
  (void)scene.at(401).evicted().decide();
  EXPECT_EQ(scene.said(), Starts{"load h at 0"});
}

TEST(Instances, UsingAnInstanceMakesItYoungAgain) {
  Scene scene = three_functions(2, 64);
  call(scene, 0, 1, 0);
  call(scene, 1, 2, 200);
  EXPECT_EQ(scene.at(400).to(0).arrive(3).decide(), Starts{"a of 3"});
  (void)scene.at(410).finish().decide();
  (void)scene.at(420).to(2).arrive(4).decide();
  EXPECT_EQ(scene.said(), Starts{"lower g at 0"});
}

TEST(Instances, WithoutRoomOnTheHostAnInstanceGoesForGood) {
  Scene scene = three_functions(1, 0.5);
  call(scene, 0, 1, 0);
  (void)scene.at(200).to(1).arrive(2).decide();
  EXPECT_EQ(scene.said(), Starts{"evict f at 0"});
}

TEST(Instances, ABusyInstanceIsNotSentAway) {
  Scene scene = three_functions(1, 64);
  (void)scene.arrive(1).decide();
  (void)scene.at(120).loaded().decide();
  (void)scene.at(121).to(1).arrive(2).decide();
  EXPECT_EQ(scene.said(), Starts{});
  (void)scene.at(130).finish().decide();
  EXPECT_EQ(scene.said().front(), "lower f at 0");
}

TEST(Instances, WhatLiesInHostMemoryIsRaisedInsteadOfLoadedAnew) {
  Scene scene = three_functions(1, 64);
  call(scene, 0, 1, 0);
  const InstanceId first = scene.last_load().instance;
  (void)scene.at(200).to(1).arrive(2).decide();
  (void)scene.at(201).evicted().decide();
  (void)scene.at(321).loaded().decide();
  (void)scene.at(331).finish().decide();
  (void)scene.at(400).to(0).arrive(3).decide();
  EXPECT_EQ(scene.said(), Starts{"lower g at 0"});
  (void)scene.at(401).evicted().decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
  EXPECT_EQ(scene.last_load().instance, first);
  EXPECT_EQ(scene.at(421).loaded().decide(), Starts{"a of 3"});
}

TEST(Instances, KeepAliveGivesAnIdleOneUpAfterItsTimeAndNextWakeSaysWhen) {
  Scene scene({stage("a")}, keeping(10));
  scene.cold_invoker(0);
  call(scene, 0, 1, 0);
  EXPECT_EQ(scene.said(), Starts{"release 1 at 0"});
  EXPECT_EQ(scene.wake_ms(), 10'130);
  (void)scene.at(10'129).decide();
  EXPECT_EQ(scene.said(), Starts{});
  (void)scene.at(10'130).decide();
  EXPECT_EQ(scene.said(), Starts{"evict f at 0"});
  (void)scene.at(10'131).evicted().decide();
  EXPECT_EQ(scene.wake_ms(), -1);
}

TEST(Instances, NoneGivesAnIdleOneUpAtOnce) {
  Scene scene({stage("a")});
  scene.cold_invoker(0);
  call(scene, 0, 1, 0);
  EXPECT_EQ(scene.said(), (Starts{"evict f at 0", "release 1 at 0"}));
}

TEST(Instances, EwmaKeepsAsManyAsTheLoadNeeds) {
  Scene scene({stage("a")}, learning);
  scene.cold_invoker(0);
  std::size_t loads = 0;
  for (std::uint64_t i = 0; i < 10; ++i) {  // 10 ms of work every 5 ms, with a fifth in reserve: three instances
    (void)scene.at(5.0 * static_cast<double>(i)).arrive(i).decide();
    loads += scene.said().size();
  }
  EXPECT_EQ(loads, 3u);
}

TEST(Instances, EwmaLoadsARareFunctionBeforeItsNextCall) {
  Scene scene({stage("a")}, learning);
  scene.cold_invoker(0);
  call(scene, 0, 1, 0);
  EXPECT_EQ(scene.at(2'000).arrive(2).decide(), Starts{"a of 2"});
  (void)scene.at(2'010).finish().decide();
  EXPECT_EQ(scene.at(4'000).arrive(3).decide(), Starts{"a of 3"});
  (void)scene.at(4'010).finish().decide();
  EXPECT_EQ(scene.said().front(), "evict f at 0");  // not needed between two calls
  (void)scene.evicted().decide();
  EXPECT_EQ(scene.wake_ms(), 4'011);  // it was asked at this instant: a change is looked at a millisecond later
  (void)scene.at(4'011).decide();
  EXPECT_EQ(scene.wake_ms(), 6'000 - 1.5 * 120);
  (void)scene.at(5'820).decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
  EXPECT_EQ(scene.at(5'940).loaded().at(6'000).arrive(9).decide(), Starts{"a of 9"});
}

TEST(Instances, WhoCameAfterALoadHadFailedIsNotAnsweredForThatFailure) {
  Scene scene({stage("a")});
  scene.cold_invoker(0).arrive(1);
  (void)scene.decide();
  (void)scene.at(1).load_fails().decide();
  (void)scene.at(2).load_fails().decide();
  (void)scene.at(3).arrive(2).decide();
  (void)scene.at(4).load_fails().decide();
  EXPECT_EQ(scene.replies(), Starts{"1 failed NoSuchModel"});
  EXPECT_EQ(scene.at(150).loaded().decide(), Starts{"a of 2"});
}

TEST(Instances, AnnouncedRequestsAreLoadedForAhead) {
  Scene scene({stage("a")});
  scene.cold_invoker(0).see(RequestAnnounced{ApplicationId(0), Time::from_ns(1'000'000'000)});
  (void)scene.decide();
  EXPECT_EQ(scene.wake_ms(), 1'000 - 120);
  (void)scene.at(880).decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
  EXPECT_EQ(scene.at(1'000).loaded().arrive(1).decide(), Starts{"a of 1"});
}

// There is memory for one of the two: what is there for those that were announced does not go for others that were.
TEST(Instances, AnnouncedRequestsDoNotSendEachOthersFunctionsAway) {
  Scene scene = three_functions(1, 64);
  for (const std::uint32_t application : {0u, 1u}) {
    scene.see(RequestAnnounced{ApplicationId(application), Time::from_ns(1'000'000'000)});
  }
  (void)scene.at(880).decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
  for (const double ms : {1'000, 1'001, 1'010, 1'100}) {
    (void)(ms == 1'000 ? scene.at(ms).loaded() : scene.at(ms)).decide();
    EXPECT_EQ(scene.said(), Starts{}) << ms;
  }
}

TEST(Instances, AnAnnouncementIsOverWhenItsRequestsHaveCome) {
  Scene scene({stage("a")});
  scene.cold_invoker(0).see(RequestAnnounced{ApplicationId(0), Time::from_ns(1'000'000'000), 2});
  (void)scene.arrive(1).decide();
  EXPECT_EQ(scene.reload().loaded().decide(), Starts{"a of 1"});
  scene.finish().arrive(2);
  EXPECT_EQ(scene.decide(), Starts{"a of 2"});
  (void)scene.at(10).finish().decide();
  EXPECT_EQ(scene.wake_ms(), -1);  // nothing is expected any more
}

TEST(Instances, AFunctionThatNeverLoadsAnswersItsRequests) {
  Scene scene({stage("a")}, "fifo", {.attempts_max = 2});
  scene.cold_invoker(0).arrive(1);
  (void)scene.decide();
  (void)scene.load_fails().decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});  // tries again
  (void)scene.load_fails().decide();
  EXPECT_EQ(scene.replies(), Starts{"1 failed NoSuchModel"});
  EXPECT_EQ(scene.said(), Starts{});
}

TEST(Instances, AnInstanceThatDiesByItselfIsLoadedAgainWhenNeeded) {
  Scene scene({stage("a")}, keeping(600));
  scene.cold_invoker(0);
  call(scene, 0, 1, 0);
  scene.see(InstanceUnloaded{.invoker = InvokerId(0), .instance = InstanceId(0), .level = Level::none});
  EXPECT_EQ(scene.at(200).arrive(2).decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
}

TEST(Instances, OneThatDiesWhileItIsRaisedIsLoadedAnew) {
  Scene scene = three_functions(1, 64);
  call(scene, 0, 1, 0);
  const InstanceId first = scene.last_load().instance;
  (void)scene.at(200).to(1).arrive(2).decide();
  (void)scene.at(201).evicted().decide();
  (void)scene.at(321).loaded().decide();
  (void)scene.at(331).finish().decide();
  (void)scene.at(400).to(0).arrive(3).decide();
  (void)scene.at(401).evicted().decide();
  scene.load_fails().see(InstanceUnloaded{.invoker = InvokerId(0), .instance = first, .level = Level::none});
  (void)scene.at(402).decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
  EXPECT_NE(scene.last_load().instance, first);
}

TEST(Instances, AnInvokerBringsItsInstancesAlong) {
  Scene scene({stage("a")});
  scene.cold_invoker(0).cold_invoker(1, 40, 64, {{InstanceId(7), ApplicationId(0), FunctionId(0), Level::device}});
  EXPECT_EQ(scene.arrive(1).decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.started().front().invoker, InvokerId(1));
  EXPECT_EQ(scene.started().front().instance, InstanceId(7));
}

TEST(Instances, WhatAnInvokerBringsBeyondItsMemoryIsNotUsed) {
  Scene scene({stage("a")});
  scene.cold_invoker(0, 0.5, 64, {{InstanceId(7), ApplicationId(0), FunctionId(0), Level::device}});
  EXPECT_EQ(scene.arrive(1).decide(), Starts{});
}

TEST(Instances, OneInstanceServesAllApplicationsThatHaveTheFunction) {
  Scene scene({stage("a")}, keeping(600));
  scene.deploy({stage("other")}).cold_invoker(0);
  call(scene, 0, 1, 0);
  EXPECT_EQ(scene.at(200).to(1).arrive(2).decide(), Starts{"other of 2"});
  EXPECT_EQ(scene.said(), Starts{});
}

TEST(Instances, MessagesAboutLoadsMayComeTwice) {
  Scene scene({stage("a")}, keeping(600));
  scene.cold_invoker(0).arrive(1).arrive(2);
  (void)scene.decide();
  const InstanceLoaded loaded{.invoker = InvokerId(0), .instance = InstanceId(0), .level = Level::device};
  EXPECT_EQ(scene.see(loaded).see(loaded).decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.see(loaded).decide(), Starts{});
}

TEST(Instances, ALostInvokerTakesItsInstancesAlong) {
  Scene scene({stage("a")}, keeping(600));
  scene.cold_invoker(0).cold_invoker(1);
  call(scene, 0, 1, 0);
  EXPECT_EQ(scene.lose(0).at(200).arrive(2).decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{"load f at 1"});
}

// An application of one stage of `f`, which is no emulated function.
std::shared_ptr<Application> real(std::uint32_t min_instances = 0, double factor = 1) {
  auto out = application_of({stage("a")});
  for (Function& function : out->functions) {
    function.cpu = function.gpu = Body{.runtime = Runtime::torch, .model = "m.pt"};
    function.profile = ten_ms(factor);
  }
  out->functions.front().min_instances = min_instances;
  return out;
}

TEST(Instances, ANewVersionUsesWhatIsLoadedThoughItsProfileIsAnother) {
  Scene scene({stage("other", {}, 1)}, keeping(600));
  scene.cold_invoker(0).deploy(real());
  call(scene, 1, 1, 0);
  (void)scene.at(200).deploy(real(0, 2)).see(ApplicationRemoved{ApplicationId(1)}).decide();
  EXPECT_EQ(scene.at(201).to(2).arrive(2).decide(), Starts{"a of 2"});
  EXPECT_EQ(scene.said(), Starts{});
}

TEST(Instances, WhatANewVersionMeasuredIsPlannedWith) {
  Scene scene({stage("other", {}, 1)}, "admission");
  scene.invoker(0, 1).deploy(real()).deploy(real(0, 3));
  (void)scene.to(2).within(25).arrive(1).decide();
  EXPECT_EQ(scene.replies(), Starts{"1 rejected: needs 30.233 of 25"});  // 2.33 times the spread is promised too
  EXPECT_EQ(scene.to(1).arrive(2).decide(), Starts{"a of 2"});
}

TEST(Instances, AnEmulatedFunctionIsAnotherOneWithAnotherProfile) {
  auto slower = application_of({stage("a")});
  slower->functions.front().profile = ten_ms(2);
  Scene scene({stage("a")}, keeping(600));
  scene.cold_invoker(0).deploy(std::shared_ptr<const Application>(slower));
  call(scene, 0, 1, 0);
  EXPECT_EQ(scene.at(200).to(1).arrive(2).decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
}

TEST(Instances, WhatOnlyARemovedApplicationHadIsGivenUpOnceItIsIdle) {
  Scene scene({stage("a", {}, 0)}, keeping(600));
  scene.deploy({stage("b", {}, 1)}).cold_invoker(0);
  call(scene, 0, 1, 0);
  call(scene, 1, 2, 200);
  (void)scene.at(400).to(0).arrive(3).decide();
  (void)scene.at(401).see(ApplicationRemoved{ApplicationId(0)}).decide();
  EXPECT_EQ(scene.said(), Starts{});  // it runs
  (void)scene.at(410).finish().decide();
  (void)scene.at(412).decide();
  EXPECT_EQ(scene.said(), Starts{"evict f at 0"});
}

TEST(Instances, MinInstancesAreLoadedBeforeAnybodyCallsAndStay) {
  Scene scene({stage("other", {}, 1)}, keeping(1));
  scene.cold_invoker(0).deploy(real(2));
  (void)scene.at(1).decide();
  EXPECT_EQ(scene.said(), (Starts{"load f at 0", "load f at 0"}));
  EXPECT_FALSE(scene.scheduler().is_warm(ApplicationId(1)));
  (void)scene.at(121).loaded().loaded().decide();
  EXPECT_TRUE(scene.scheduler().is_warm(ApplicationId(1)));
  (void)scene.at(60'000).decide();
  EXPECT_EQ(scene.said(), Starts{});
  scene.reload();
  (void)scene.at(61'000).see(ApplicationRemoved{ApplicationId(1)}).decide();
  EXPECT_EQ(scene.said(), (Starts{"evict f at 0", "evict f at 0"}));
}

TEST(Instances, OneOfEachFunctionIsLoadedForCallsThatAreExpectedAndStaysUntilTheyAreNot) {
  Scene scene({stage("a"), stage("b", {0}, 1)}, keeping(1));
  (void)scene.cold_invoker(0).at(1).see(CallsExpected{ApplicationId(0)}).decide();
  EXPECT_EQ(scene.said(), (Starts{"load f at 0", "load g at 0"}));
  (void)scene.reload().at(121).loaded().loaded().decide();
  (void)scene.at(5'000).decide();
  EXPECT_EQ(scene.said(), Starts{});
  (void)scene.see(CallsExpected{ApplicationId(0), false}).at(5'002).decide();
  EXPECT_EQ(scene.said(), (Starts{"evict f at 0", "evict g at 0"}));
}

TEST(Instances, MinInstancesAreNotSentAwayByOthers) {
  Scene scene({stage("b", {}, 1)}, keeping(600));
  scene.cold_invoker(0, 1, 1).deploy(real(1));
  (void)scene.at(1).decide();
  (void)scene.at(121).loaded().decide();
  EXPECT_EQ(scene.at(200).to(0).arrive(1).decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{});
}

}  // namespace
}  // namespace sluice::core
