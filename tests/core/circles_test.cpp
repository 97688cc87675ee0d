// Loads and evictions come to an end: nothing goes for its equal, and whoever waits longest gets through.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/scene.h"
#include "policy/keep_alive.h"

namespace sluice::core {
namespace {

// `best-fit` with the prewarming of ESG's evaluation.
policy::Policies learning() {
  policy::Policies out = scheduler_named("best-fit")();
  out.prewarm = policy::make_prewarm_ewma({});
  return out;
}

struct Happened {
  std::size_t loads = 0, starts = 0;
};

// Everything that is on its way arrives every 2 ms: loads, evictions and batches.
Happened settle(Scene& scene, double from_ms, double to_ms) {
  Happened out;
  for (double ms = from_ms; ms < to_ms; ms += 2) {
    out.starts += scene.at(ms).decide().size();
    for (const std::string& said : scene.said()) out.loads += said.starts_with("load") ? 1 : 0;
    while (!scene.started().empty()) scene.finish();
    while (scene.loading()) scene.loaded();
    while (scene.evicting()) scene.evicted();
  }
  return out;
}

// Room for so many instances in device memory, and for copies on the host.
InvokerJoined machine_for(double instances) {
  return {.id = InvokerId(0),
          .epoch = 1,
          .capacity = {.vcpu = 16, .memory = Bytes::gb(64), .gpus = 1, .gpu_memory = Bytes::gb(instances)}};
}

// Calls every 2 ms: prewarming wants six instances of each function.
void call_often(Scene& scene, std::uint32_t applications) {
  std::uint64_t id = 1;
  for (double ms = 0; ms < 400; ms += 2) {
    for (std::uint32_t a = 0; a < applications; ++a) scene.at(ms).to(a).arrive(id++);
    (void)settle(scene, ms, ms + 2);
  }
}

TEST(Circles, NoInstanceGoesForAnotherOneOfItsFunction) {
  Scene scene({stage("a", {}, 0)}, learning);
  scene.see(machine_for(5)).within(60'000);
  call_often(scene, 1);
  (void)settle(scene, 400, 1000);  // what waits is served
  EXPECT_EQ(settle(scene, 1000, 3000).loads, 0u);
}

TEST(Circles, TwoFunctionsThatAreWantedAlikeDoNotSendEachOtherAway) {
  Scene scene({stage("a", {}, 0)}, learning);
  scene.deploy({stage("b", {}, 1)}).see(machine_for(10)).within(60'000);
  call_often(scene, 2);
  (void)settle(scene, 400, 3000);
  EXPECT_EQ(settle(scene, 3000, 9000).loads, 0u);
}

TEST(Circles, NothingIsLoadedMoreOftenThanItCouldRunAtOnce) {
  Scene scene({stage("a", {}, 0)}, learning);
  scene.cold_invoker(0, 40, 64).within(60'000);  // four vCPUs, one for each batch
  std::size_t loads = 0;
  for (std::uint64_t i = 0; i < 30; ++i) scene.arrive(i);
  for (double ms = 0; ms < 50; ms += 2) {
    (void)scene.at(ms).decide();
    loads += scene.said().size();
  }
  while (scene.loading()) scene.loaded();
  loads += settle(scene, 50, 2000).loads;
  EXPECT_LE(loads, 4u);
}

// `kaas-round-robin` runs the oldest invocation alone: here g's, though f's queue has the lower id.
TEST(Circles, OfTwoThatWaitEquallyLongTheFirstIsLoadedFor) {
  Scene scene({stage("a", {}, 0)}, "kaas-round-robin");
  scene.deploy({stage("b", {}, 1)}).cold_invoker(0, 1, 0).within(60'000);
  (void)scene.to(1).arrive(1).to(0).arrive(2);
  EXPECT_EQ(settle(scene, 0, 1000).starts, 2u);
}

// f is idle though it is waited for: its request is behind that of h, which is being loaded.
TEST(Circles, WhatIsWaitedForStaysForThoseWhoCameLater) {
  Scene scene({stage("a", {}, 0)}, "kaas-round-robin");
  scene.deploy({stage("b", {}, 1)}).deploy({stage("c", {}, 2)}).cold_invoker(0, 2, 0).within(60'000);
  scene.to(0).arrive(1);
  EXPECT_EQ(settle(scene, 0, 10).starts, 1u);
  (void)scene.at(10).to(2).arrive(2).decide();
  EXPECT_EQ(scene.said(), Starts{"load h at 0"});
  (void)scene.at(11).to(0).arrive(3).decide();
  (void)scene.at(12).to(1).arrive(4).decide();
  EXPECT_EQ(scene.said(), Starts{});
  const Happened happened = settle(scene, 14, 1000);
  EXPECT_EQ(happened.starts, 3u);
  EXPECT_EQ(happened.loads, 1u);
}

// f is waited for longer than g, but its tenant may not run anything.
TEST(Circles, OfWhatIsWaitedForLongerAllButTheFirstMayGo) {
  Scene scene({stage("a", {}, 0)}, "best-fit");
  const auto of_f = [](std::uint64_t id) {
    return InstanceStatus{
        .id = InstanceId(id), .application = ApplicationId(0), .function = FunctionId(0), .level = Level::device};
  };
  scene.deploy({stage("b", {}, 1)}, "acme").cold_invoker(0, 2, 0, {of_f(0), of_f(1)}).within(60'000);
  scene.see(QuotaChanged{.tenant = "default", .vcpu = 0, .slices = {}}).to(0).arrive(1).decide();
  (void)scene.at(1).to(1).arrive(2).decide();
  EXPECT_TRUE(scene.evicting());
  EXPECT_EQ(settle(scene, 2, 100).starts, 1u);
  (void)scene.at(100).see(QuotaChanged{.tenant = "default", .vcpu = {}, .slices = {}});
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});  // on the first
}

// f's tenant may not run anything for a while; six instances of g are wanted, and one has room beside f.
TEST(Circles, WhatIsWaitedForStaysWhateverIsLoadedAhead) {
  Scene scene({stage("a", {}, 1)}, learning);
  InvokerJoined machine = machine_for(2);
  machine.instances = {{InstanceId(0), ApplicationId(1), FunctionId(0), Level::device}};
  scene.deploy({stage("b", {}, 0)}, "acme").see(machine).within(60'000);
  scene.see(QuotaChanged{.tenant = "acme", .vcpu = 0, .slices = {}}).to(1).arrive(1000).decide();
  call_often(scene, 1);
  (void)scene.at(400).see(QuotaChanged{.tenant = "acme", .vcpu = {}, .slices = {}});
  const Starts starts = scene.decide();
  EXPECT_EQ(std::count(starts.begin(), starts.end(), "b of 1000"), 1);
}

TEST(Circles, WhatIsNotCalledAnyMoreDoesNotComeBackForNobody) {
  Scene scene({stage("a", {}, 0)}, learning);
  scene.deploy({stage("b", {}, 1)}).see(machine_for(1)).within(60'000);
  call_often(scene, 1);
  (void)settle(scene, 400, 1000);
  (void)scene.at(3000).to(1).arrive(1000);
  const Happened happened = settle(scene, 3000, 6000);
  EXPECT_EQ(happened.starts, 1u);
  EXPECT_EQ(happened.loads, 1u);  // of g
}

// Four vCPUs run four batches of an instance that could run eight.
TEST(Circles, AnIdleMachineIsLoadedForABacklogThatTakesLongerThanTheLoad) {
  for (const std::uint64_t backlog : {8u, 100u}) {
    Scene scene({stage("a")}, "best-fit");
    scene.cold_invoker(0).within(60'000).arrive(0);
    (void)scene.decide();
    scene.at(120).see(
        InstanceLoaded{.invoker = InvokerId(0), .instance = InstanceId(0), .level = Level::device, .batches = 8});
    scene.cold_invoker(1);
    for (std::uint64_t i = 1; i <= backlog; ++i) scene.arrive(i);
    (void)scene.decide();
    EXPECT_EQ(scene.said(), backlog == 100 ? Starts{"load f at 1"} : Starts{});
  }
}

}  // namespace
}  // namespace sluice::core
