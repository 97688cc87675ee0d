// What the simulated machines refuse: a row per violation.
#include "sim/machines.h"

#include <gtest/gtest.h>

namespace sluice::sim {
namespace {

constexpr Time kNow;
constexpr InvokerId kInvoker(0);

StartBatch batch(std::uint64_t id, int vcpu, std::uint64_t slices, std::uint16_t gpu = 0) {
  return {.id = BatchId(id),
          .invoker = kInvoker,
          .instance = InstanceId(1),
          .configuration = configuration(1, vcpu, __builtin_popcountll(slices)),
          .positions = {gpu, slices}};
}

Machines one_machine() {
  Machines out(Cluster{.nodes = {{.vcpu = 4, .gpus = 1, .slices_per_gpu = 7}}});
  out.keep_warm({Bytes::gb(1)});
  (void)out.boot(0, kNow);
  return out;
}

TEST(Machines, RefuseVcpusThatAreNotThere) {
  Machines machines = one_machine();
  EXPECT_EQ(machines.start(batch(1, 3, 0b1), 0, kNow), "");
  EXPECT_EQ(machines.start(batch(2, 2, 0b10), 0, kNow), "invoker 0 was given 5 of 4 vCPUs");
  machines.end(batch(1, 3, 0b1), 0, kNow);
  EXPECT_EQ(machines.start(batch(2, 2, 0b10), 0, kNow), "");
}

TEST(Machines, RefuseASliceThatIsTaken) {
  Machines machines = one_machine();
  EXPECT_EQ(machines.start(batch(1, 1, 0b011), 0, kNow), "");
  EXPECT_EQ(machines.start(batch(2, 1, 0b110), 0, kNow), "a slice of invoker 0 was given twice");
  EXPECT_EQ(machines.start(batch(2, 1, 0b100), 0, kNow), "");
}

TEST(Machines, RefuseSlicesThatAreNotThere) {
  Machines machines = one_machine();
  const std::string wrong = "batch 1 was given slices that are not there";
  EXPECT_EQ(machines.start(batch(1, 1, 0b10000000), 0, kNow), wrong);
  EXPECT_EQ(machines.start(batch(1, 1, 0b1, 1), 0, kNow), wrong);
}

TEST(Machines, RefuseOtherSlicesThanTheConfigurationSays) {
  Machines machines = one_machine();
  StartBatch wrong = batch(1, 1, 0b1);
  wrong.positions.slices = 0b11;
  EXPECT_EQ(machines.start(wrong, 0, kNow), "batch 1 has other slices than its configuration says");
}

TEST(Machines, RefuseABatchWhoseFunctionIsNotLoadedThere) {
  Machines machines(Cluster{.nodes = {{.vcpu = 4, .gpus = 2, .slices_per_gpu = 7}}});
  (void)machines.boot(0, kNow);
  const std::string wrong = "batch 1 was started where its function is not loaded";
  EXPECT_EQ(machines.start(batch(1, 1, 0b1), 0, kNow), wrong);
  machines.set(kInvoker, InstanceId(1), {.level = Level::host, .memory = Bytes::gb(1)}, kNow);
  EXPECT_EQ(machines.start(batch(1, 1, 0b1), 0, kNow), wrong);
  EXPECT_EQ(machines.start(batch(1, 1, 0), 0, kNow), "");  // on the host it may
  machines.set(kInvoker, InstanceId(1), {.level = Level::device, .gpu = 1, .memory = Bytes::gb(1)}, kNow);
  EXPECT_EQ(machines.start(batch(1, 1, 0b1), 0, kNow), wrong);
  EXPECT_EQ(machines.start(batch(1, 1, 0b1, 1), 0, kNow), "");
}

TEST(Machines, ACrashTakesEverythingAlong) {
  Machines machines = one_machine();
  EXPECT_EQ(machines.start(batch(1, 4, 0b1111111), 0, kNow), "");
  machines.crash(0, kNow);
  EXPECT_EQ(machines.epoch(0), 0u);
  EXPECT_EQ(machines.boot(0, kNow), 2u);
  EXPECT_EQ(machines.start(batch(2, 4, 0b1111111), 0, kNow), "");
}

TEST(Machines, CountMemoryThatDoesNothing) {
  Machines machines = one_machine();
  const auto at = [](double s) { return Time() + Duration::s(s); };
  EXPECT_EQ(machines.start(batch(1, 1, 0b1), 0, at(2)), "");
  machines.end(batch(1, 1, 0b1), 0, at(5));
  EXPECT_DOUBLE_EQ(machines.idle_gb_s(at(6)), 3);
}

}  // namespace
}  // namespace sluice::sim
