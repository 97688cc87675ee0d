// A machine with two GPUs: each has its own memory and slices, and every load, eviction and batch is on one of them.
// After every event and decision the scene compares the books of each GPU with what is loaded and runs there.
#include <gtest/gtest.h>

#include "core/loads_at.h"
#include "core/scene.h"

namespace sluice::core {
namespace {

constexpr InvokerId kMachine(0);
constexpr std::uint16_t kGpus[] = {0, 1};

// f of the first application's tenant, ready when the machine joins.
InstanceStatus f_on_gpu_0() {
  return {.id = InstanceId(0), .application = ApplicationId(0), .function = FunctionId(0), .level = Level::device};
}

InvokerJoined two_gpus(double gpu_gb, double host_gb, std::vector<InstanceStatus> instances = {}) {
  return {.id = kMachine,
          .epoch = 1,
          .capacity = {.vcpu = 4, .memory = Bytes::gb(host_gb), .gpus = 2, .gpu_memory = Bytes::gb(gpu_gb)},
          .instances = std::move(instances)};
}

Bytes free_on(Scene& scene, std::uint16_t gpu) {
  return scene.scheduler().books().free_memory(kMachine, gpu);
}

QuotaChanged may_not_run(const std::string& tenant) {
  return {.tenant = tenant, .vcpu = 0, .slices = {}};
}

// f fills GPU 0 and is waited for: its tenant may not run anything for a while. g is asked for then.
TEST(TwoGpus, ALoadGoesToTheOneThatHasRoomAndItsBatchRunsThere) {
  for (const std::string_view name : policy::scheduler_names()) {
    if (name == "aquatope") continue;  // finds its presets elsewhere; tests/sim/catalog_test.cpp has it
    if (name == "admission" || name == "kaas-round-robin") continue;  // refuses f's request; runs nothing before it
    SCOPED_TRACE(name);
    Scene scene({stage("a", {}, 0)}, std::string(name));
    scene.deploy({stage("b", {}, 1)}, "acme").see(two_gpus(1, 0, {f_on_gpu_0()})).within(60'000);
    (void)scene.see(may_not_run("default")).to(0).arrive(1).decide();
    EXPECT_EQ(scene.at(1).to(1).arrive(2).decide(), Starts{});
    ASSERT_EQ(scene.said(), Starts{"load g at 0"});
    EXPECT_EQ(scene.last_load().gpu, 1);
    EXPECT_EQ(free_on(scene, 0), Bytes{});
    EXPECT_EQ(free_on(scene, 1), Bytes{});
    EXPECT_EQ(scene.reload().at(121).loaded().decide(), Starts{"b of 2"});
    EXPECT_EQ(scene.started().front().positions.gpu, 1);
    EXPECT_EQ(scene.started().front().instance, scene.last_load().instance);
  }
}

TEST(TwoGpus, AFunctionIsLoadedBesideOneThatRuns) {
  Scene scene({stage("a", {}, 0)}, "best-fit");
  scene.deploy({stage("b", {}, 1)}).see(two_gpus(1, 64, {f_on_gpu_0()})).within(60'000);
  EXPECT_EQ(scene.to(0).arrive(1).decide(), Starts{"a of 1"});
  (void)scene.at(1).to(1).arrive(2).decide();
  EXPECT_EQ(scene.said(), Starts{"load g at 0"});
  EXPECT_EQ(scene.at(121).loaded().decide(), Starts{"b of 2"});
  EXPECT_EQ(scene.started()[0].positions.gpu, 0);
  EXPECT_EQ(scene.started()[1].positions.gpu, 1);
}

MakePolicies on_gpu(std::uint16_t gpu) {
  return [=] {
    policy::Policies out = scheduler_named("best-fit")();
    out.dispatch = std::make_unique<LoadsAt>(kMachine, gpu);
    return out;
  };
}

TEST(TwoGpus, DispatchDecidesOnWhichAFunctionIsLoaded) {
  for (const std::uint16_t gpu : kGpus) {
    Scene scene({stage("a")}, on_gpu(gpu));
    (void)scene.see(two_gpus(1, 64)).arrive(1).decide();
    ASSERT_EQ(scene.said(), Starts{"load f at 0"});
    EXPECT_EQ(scene.last_load().gpu, gpu);
    EXPECT_EQ(free_on(scene, gpu), Bytes{});
    EXPECT_EQ(free_on(scene, kGpus[1 - gpu]), Bytes::gb(1));
    EXPECT_EQ(scene.at(120).loaded().decide(), Starts{"a of 1"});
    EXPECT_EQ(scene.started().front().positions.gpu, gpu);
  }
}

TEST(TwoGpus, NothingIsLoadedOnOneThatIsNotThere) {
  Scene scene({stage("a")}, on_gpu(2));
  (void)scene.see(two_gpus(1, 64)).arrive(1).decide();
  EXPECT_EQ(scene.said(), Starts{});
}

// A request whose function is not loaded, from its load to its answer.
void call(Scene& scene, std::uint32_t application, std::uint64_t id, double ms) {
  (void)scene.at(ms).to(application).arrive(id).decide();
  ASSERT_EQ(scene.at(ms + 120).loaded().decide().size(), 1u);
  (void)scene.at(ms + 130).finish().decide();
}

// Applications 0, 1 and 2 run f, g and h; f is ready on GPU 0 and g on GPU 1, and fill them.
Scene full_gpus() {
  Scene scene({stage("a", {}, 0)}, "best-fit");
  scene.deploy({stage("b", {}, 1)}).deploy({stage("c", {}, 2)}).see(two_gpus(1, 64)).within(60'000);
  for (const std::uint16_t gpu : kGpus) {
    call(scene, gpu, gpu, 200.0 * gpu);
    EXPECT_EQ(scene.last_load().gpu, gpu);
  }
  return scene;
}

TEST(TwoGpus, WhatCostsLeastToMissGoesAndTheOtherStays) {
  for (const std::uint16_t rare : kGpus) {
    Scene scene = full_gpus();
    for (std::uint64_t i = 0; i < 5; ++i) {
      const double ms = 400 + 20 * static_cast<double>(i);
      EXPECT_EQ(scene.at(ms).to(kGpus[1 - rare]).arrive(10 + i).decide().size(), 1u);
      (void)scene.at(ms + 10).finish().decide();
    }
    (void)scene.at(500).to(2).arrive(20).decide();
    EXPECT_EQ(scene.said(), Starts{rare == 0 ? "lower f at 0" : "lower g at 0"});
    (void)scene.at(501).evicted().decide();
    EXPECT_EQ(scene.said(), Starts{"load h at 0"});
    EXPECT_EQ(scene.last_load().gpu, rare);
    EXPECT_EQ(scene.at(621).loaded().decide(), Starts{"c of 20"});
    EXPECT_EQ(scene.started().front().positions.gpu, rare);
  }
}

TEST(TwoGpus, ALoadDoesNotWaitForWhatLeavesTheOther) {
  Scene scene = full_gpus();
  const InstanceId g = scene.last_load().instance;
  scene.deploy({stage("d", {}, 0)}, "acme");  // a function of its own
  (void)scene.at(400).to(2).arrive(10).decide();
  EXPECT_EQ(scene.said(), Starts{"lower f at 0"});
  (void)scene.at(401).to(3).arrive(11).decide();
  EXPECT_EQ(scene.said(), Starts{"lower g at 0"});
  scene.reload().see(InstanceUnloaded{.invoker = kMachine, .instance = g, .level = Level::host});
  (void)scene.at(402).decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
  EXPECT_EQ(scene.last_load().gpu, 1);
  (void)scene.at(403).evicted().decide();
  EXPECT_EQ(scene.said(), Starts{"load h at 0"});
  EXPECT_EQ(scene.last_load().gpu, 0);
}

TEST(TwoGpus, ACopyOnTheHostIsRaisedToEither) {
  Scene scene = full_gpus();
  EXPECT_EQ(scene.at(400).to(1).arrive(10).decide(), Starts{"b of 10"});
  (void)scene.to(2).arrive(11).decide();
  EXPECT_EQ(scene.said(), Starts{"lower f at 0"});  // from GPU 0: g is busy
  (void)scene.evicted().decide();
  EXPECT_EQ(scene.at(520).loaded().decide(), Starts{"c of 11"});
  (void)scene.at(521).finish().to(0).arrive(12).decide();  // request 10 is over, request 11 runs
  EXPECT_EQ(scene.said().front(), "lower g at 0");
  (void)scene.at(522).evicted().reload().decide();
  EXPECT_EQ(scene.said(), Starts{"load f at 0"});
  EXPECT_EQ(scene.last_load().instance, InstanceId(0));
  EXPECT_EQ(scene.last_load().gpu, 1);
  EXPECT_EQ(scene.at(542).loaded().decide(), Starts{"a of 12"});
  EXPECT_EQ(scene.started().back().positions.gpu, 1);
}

// Applications 0 and 1 run f and g. f takes 3 GB and has no profile without slices; a GPU has 2 GB.
Scene with_one_too_large(std::string_view scheduler) {
  auto large = application_of({stage("a", {}, 0)});
  large->functions[0].memory = Bytes::gb(3);
  Scene scene{std::shared_ptr<const Application>(large), std::string(scheduler)};
  scene.deploy({stage("b", {}, 1)}).see(two_gpus(2, 64));
  return scene;
}

// What is commanded ends within 10 ms; returns what was loaded.
Starts loads_within(Scene& scene, double from_ms, double to_ms) {
  Starts out;
  for (double ms = from_ms; ms < to_ms; ms += 10) {
    (void)scene.at(ms).decide();
    for (const std::string& said : scene.said()) {
      if (said.starts_with("load")) out.push_back(said);
    }
    while (scene.loading()) scene.loaded();
    while (!scene.started().empty()) scene.finish();
  }
  return out;
}

// The core gives nobody up by itself: who drives it cancels what its caller waits for no longer.
TEST(TwoGpus, WhatIsLargerThanOneIsNeverLoadedAndHoldsNobodyUp) {
  for (const std::string_view name : policy::scheduler_names()) {
    if (name == "aquatope" || name == "admission" || name == "kaas-round-robin") continue;
    SCOPED_TRACE(name);
    Scene scene = with_one_too_large(name);
    scene.to(0).arrive(1).to(1).arrive(2);
    EXPECT_EQ(loads_within(scene, 0, 5000), Starts{"load g at 0"});
    EXPECT_EQ(scene.replies(), Starts{"2 finished"});
    (void)scene.see(RequestCancelled{RequestId(1)}).decide();
    EXPECT_EQ(scene.replies().back(), "1 cancelled");
  }
}

TEST(TwoGpus, WhereNobodyOvertakesOthersWaitForItUntilItIsCancelled) {
  Scene scene = with_one_too_large("kaas-round-robin");
  scene.to(0).arrive(1).to(1).arrive(2);
  EXPECT_EQ(loads_within(scene, 0, 1000), Starts{"load g at 0"});
  EXPECT_EQ(scene.replies(), Starts{});
  EXPECT_EQ(scene.see(RequestCancelled{RequestId(1)}).decide(), Starts{"b of 2"});
}

TEST(TwoGpus, SluiceGivesUpWhatIsLargerThanOneWhenItIsLate) {
  Scene scene = with_one_too_large("sluice");
  scene.to(0).arrive(1).arrive(2);
  EXPECT_EQ(loads_within(scene, 0, 5000), Starts{});
  EXPECT_EQ(scene.replies(), Starts{"1 deadline exceeded DeadlineExceeded"});  // the last one harms nobody
}

TEST(TwoGpus, ReservedAdmissionRefusesWhatIsLargerThanOne) {
  Scene scene = with_one_too_large("admission");
  (void)scene.to(0).arrive(1).decide();
  EXPECT_EQ(scene.last_reject().request, RequestId(1));
  EXPECT_EQ(scene.last_reject().reason, RejectReason::no_capacity);
  EXPECT_EQ(scene.said(), Starts{});
}

}  // namespace
}  // namespace sluice::core
