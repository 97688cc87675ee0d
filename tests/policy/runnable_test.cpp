#include "policy/runnable.h"

#include <gtest/gtest.h>

#include "policy/stand.h"

namespace sluice::policy {
namespace {

Configuration on(const char* device, int batch, int vcpu, int slices) {
  Configuration c = configuration(batch, vcpu, slices);
  c.device = DeviceKind(std::string_view(device));
  return c;
}

Invoker machine(SliceLayout layout, std::uint64_t free, const char* device = "gpu") {
  Invoker out{.usable = true, .warm = true, .vcpu = 4, .vcpu_free = 4, .layout = layout};
  out.device = DeviceKind(std::string_view(device));
  out.gpus.push_back({.slices = 7, .free = free});
  return out;
}

TEST(Fits, KnowsWhereTheLayoutLetsASliceStart) {
  const SharedFunctionId f(0);
  constexpr std::uint64_t kOneAndTwo = 0b0000110;  // two free slices, not at an even place
  EXPECT_TRUE(machine(SliceLayout::any, kOneAndTwo).fits(configuration(1, 1, 2), f));
  EXPECT_FALSE(machine(SliceLayout::mig, kOneAndTwo).fits(configuration(1, 1, 2), f));
  EXPECT_FALSE(machine(SliceLayout::buddy, kOneAndTwo).fits(configuration(1, 1, 2), f));
  EXPECT_TRUE(machine(SliceLayout::mig, 0b0001100).fits(configuration(1, 1, 2), f));
  EXPECT_TRUE(machine(SliceLayout::buddy, 0b0001100).fits(configuration(1, 1, 2), f));
  EXPECT_FALSE(machine(SliceLayout::mig, 0b1111110).fits(configuration(1, 1, 4), f));  // four start at 0 only
}

TEST(Fits, KnowsTheKindOfDevice) {
  const SharedFunctionId f(0);
  const Invoker h200 = machine(SliceLayout::any, 0b1111111, "h200"), plain = machine(SliceLayout::any, 0b1111111);
  EXPECT_TRUE(h200.fits(on("h200", 1, 1, 1), f));
  EXPECT_TRUE(h200.fits(on("gpu", 1, 1, 1), f));  // any kind
  EXPECT_FALSE(h200.fits(on("a100", 1, 1, 1), f));
  EXPECT_FALSE(plain.fits(on("h200", 1, 1, 1), f));
  EXPECT_TRUE(plain.fits(on("cpu", 1, 1, 0), f));
  EXPECT_TRUE(h200.holds(on("h200", 1, 4, 7)));
  EXPECT_FALSE(h200.holds(on("h200", 1, 5, 7)));
  EXPECT_FALSE(h200.holds(on("h200", 1, 1, 8)));
}

// Nothing runs one invocation alone: it is run in a batch that is not full, at the time and price of the whole.
TEST(Catalog, EverySchedulerRunsABatchThatIsNotFull) {
  for (const std::string_view name : scheduler_names()) {
    if (name == "aquatope") continue;  // finds its presets elsewhere; tests/sim/catalog_test.cpp has it
    Stand stand(std::string(name), {Rows{{4, 1, 1, 100}, {8, 1, 1, 150}}}, 400);
    EXPECT_EQ(stand.invoker(0, 8, 7).arrive(1).decide(), (Starts{"s0 of 1: (1,1,1) on 0"})) << name;
  }
}

TEST(Catalog, NoSchedulerWaitsForADeviceThatIsNotThere) {
  for (const std::string_view name : scheduler_names()) {
    if (name == "aquatope") continue;
    // Eight slices and 64 vCPUs are on no machine, and would be the cheapest and the fastest.
    Stand stand(std::string(name), {Rows{{1, 1, 8, 1}, {1, 64, 1, 1}, {1, 1, 2, 100}}}, 400);
    EXPECT_EQ(stand.invoker(0, 8, 7).arrive(1).decide(), (Starts{"s0 of 1: (1,1,2) on 0"})) << name;
  }
}

// Only four slices are fast enough, and would be there; what the tenant may take runs, in time or late.
TEST(Catalog, NoSchedulerWaitsForMoreThanItsTenantMayEverTake) {
  for (const std::string_view name : scheduler_names()) {
    if (name == "aquatope" || name == "admission") continue;  // which refuses what would be late
    Stand stand(std::string(name), {Rows{{1, 1, 4, 10}, {1, 1, 1, 100}}}, 50);
    stand.invoker(0, 8, 7).quota(8, 2).arrive(1);
    Starts starts;
    for (double ms = 0; ms < 200 && starts.empty(); ms += 10) starts = stand.at(ms).decide();
    EXPECT_EQ(starts, (Starts{"s0 of 1: (1,1,1) on 0"})) << name;
  }
}

// 16 vCPUs are on machine 0 alone; machine 1 has its turn with a slice.
TEST(Catalog, RoundRobinRunsTheLeastThatTheMachineWhoseTurnItIsCanRun) {
  Stand stand("kaas-round-robin", {Rows{{1, 16, 0, 50}, {1, 1, 1, 100}}}, 400);
  EXPECT_EQ(stand.invoker(0, 16, 7).invoker(1, 8, 7).arrive(1).arrive(2).decide(),
            (Starts{"s0 of 1: (1,16,0) on 0", "s0 of 2: (1,1,1) on 1"}));
}

}  // namespace
}  // namespace sluice::policy
