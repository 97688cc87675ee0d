// A proposal may name a machine where the function is not loaded: the load is booked, and whoever waits runs behind it.
#include <gtest/gtest.h>

#include "core/loads_at.h"
#include "core/scene.h"
#include "policy/keep_alive.h"

namespace sluice::core {
namespace {

policy::Policies on_machine_one() {
  policy::Policies out = scheduler_named("fifo")();
  out.dispatch = std::make_unique<LoadsAt>(InvokerId(1));
  out.prewarm = policy::make_prewarm_keep_alive({});
  return out;
}

TEST(LoadAndRun, DispatchDecidesWhereAFunctionIsLoadedAndTheBatchFollows) {
  Scene scene({stage("a")}, on_machine_one);
  scene.cold_invoker(0).cold_invoker(1).arrive(1);
  EXPECT_EQ(scene.decide(), Starts{});
  EXPECT_EQ(scene.said(), Starts{"load f at 1"});
  (void)scene.at(60).decide();
  EXPECT_EQ(scene.said(), Starts{});  // it is on its way
  EXPECT_EQ(scene.reload().at(120).loaded().decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.started().front().invoker, InvokerId(1));
}

TEST(LoadAndRun, AFailedLoadIsNoFailedAttemptOfThoseWhoWait) {
  Scene scene({stage("a")}, on_machine_one);
  scene.cold_invoker(0).cold_invoker(1).arrive(1);
  (void)scene.decide();
  (void)scene.load_fails().decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 1"});
  EXPECT_EQ(scene.at(120).loaded().decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.started().front().members.front().attempt, 0u);
}

TEST(LoadAndRun, WhoComesWhileItLoadsNeedsNoLoadOfItsOwn) {
  Scene scene({stage("a")});
  scene.cold_invoker(0).cold_invoker(1).arrive(1);
  (void)scene.decide();
  (void)scene.at(60).arrive(2).decide();
  EXPECT_EQ(scene.said(), Starts{});
}

// f and g fill the GPU; both are idle.
Scene full_gpu() {
  Scene scene({stage("a", {}, 0)}, "best-fit");
  scene.deploy({stage("b", {}, 1)}).deploy({stage("c", {}, 2)}).cold_invoker(0, 2, 64);
  for (const std::uint32_t application : {0u, 1u}) {
    const double ms = 200.0 * application;
    (void)scene.at(ms).to(application).arrive(application).decide();
    (void)scene.at(ms + 120).loaded().decide();
    (void)scene.at(ms + 130).finish().decide();
  }
  return scene;
}

TEST(LoadAndRun, MemoryIsBookedBeforeItIsFreeSoThatNobodyElseTakesIt) {
  Scene scene = full_gpu();
  (void)scene.at(400).to(2).arrive(3).decide();
  EXPECT_EQ(scene.said(), Starts{"lower f at 0"});
  (void)scene.at(401).to(0).arrive(4).decide();  // f again: what f leaves is h's
  EXPECT_EQ(scene.said(), Starts{"lower g at 0"});
  (void)scene.reload().at(402).evicted().decide();
  EXPECT_EQ(scene.said(), Starts{"load h at 0"});
  (void)scene.at(403).evicted().decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
}

TEST(LoadAndRun, WhatIsCalledOftenStaysThoughItWasUsedLongerAgo) {
  Scene scene = full_gpu();
  for (int i = 0; i < 5; ++i) {  // f every 20 ms, g once, last
    EXPECT_EQ(scene.at(400 + 20 * i).to(0).arrive(static_cast<std::uint64_t>(10 + i)).decide().size(), 1u);
    (void)scene.at(410 + 20 * i).finish().decide();
  }
  EXPECT_EQ(scene.at(492).to(1).arrive(20).decide().size(), 1u);
  (void)scene.at(502).finish().decide();
  (void)scene.at(503).to(2).arrive(21).decide();
  EXPECT_EQ(scene.said(), Starts{"lower g at 0"});
}

// Two machines' worth of requests on one vCPU: f and g take turns on the only place in memory, each running once.
TEST(LoadAndRun, NothingIsEvictedBeforeThoseItWasLoadedForRan) {
  Scene scene({stage("a", {}, 0)}, "best-fit");
  scene.deploy({stage("b", {}, 1)}).cold_invoker(0, 1, 64).within(60'000);
  std::size_t ran = 0, loads = 0;
  for (std::uint64_t i = 0; i < 8; ++i) scene.to(i % 2).arrive(i);
  for (int step = 1; step < 40 && ran < 8; ++step) {
    ran += scene.at(10.0 * step).decide().size();
    for (const std::string& said : scene.said()) loads += said.starts_with("load") ? 1 : 0;
    if (!scene.started().empty())
      scene.finish();
    else if (loads > 0 && scene.loading())
      scene.loaded();
    else if (scene.evicting())
      scene.evicted();
  }
  EXPECT_EQ(ran, 8u);
  EXPECT_LE(loads, 8u);
}

TEST(LoadAndRun, StagesAheadAreLoadedWhileEarlierOnesRun) {
  Scene scene({stage("a", {}, 0), stage("b", {0}, 1)}, "sluice");
  scene.cold_invoker(0).cold_invoker(1).arrive(1);
  EXPECT_EQ(scene.decide(), Starts{});
  EXPECT_EQ(scene.said().size(), 2u);  // f, which is waited for, and g, which will be
  EXPECT_EQ(scene.at(120).loaded().loaded().decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.at(130).finish().decide(), Starts{"b of 1"});
}

TEST(LoadAndRun, WhatIsOnlyAheadDoesNotSendAwayWhatIsNeededAsSoon) {
  Scene scene({stage("a", {}, 0), stage("b", {0}, 1)}, "sluice");
  scene.cold_invoker(0, 1, 64).within(60'000).arrive(1);
  (void)scene.decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
  EXPECT_EQ(scene.at(120).loaded().decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.said(), Starts{});
  (void)scene.at(130).finish().decide();
  EXPECT_EQ(scene.said(), Starts{"lower f at 0"});
}

}  // namespace
}  // namespace sluice::core
