// Where a function is loaded and what goes for it, on a machine with two GPUs of 2 GB. Functions take 1 GB unless a
// test says otherwise; a copy of what goes has room on the host.
#include "policy/loading.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "policy/cold_machine.h"

namespace sluice::policy {
namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();
constexpr std::uint16_t kGpus[] = {0, 1};

ColdMachine two_gpus(const std::vector<Loadable>& functions, std::uint32_t slices = 7) {
  return {{.vcpu = 8, .gpus = 2, .slices_per_gpu = slices, .gpu_memory = Bytes::gb(2)}, functions};
}

// The GPU on which the function is loaded if everything that is not waited for may go; -1: on none.
int gpu_for(const ColdMachine& machine, std::uint32_t function) {
  const auto place =
      place_to_load(machine.view(), {.function = SharedFunctionId(function),
                                     .worth = kAnything,
                                     .oldest = oldest_waiting(machine.view(), machine.view().functions[function])});
  EXPECT_TRUE(!place || place->level == Level::device);
  return place ? place->gpu : -1;
}

// The functions whose instances go for it there; all of them lie on that GPU.
std::vector<std::uint32_t> evicted_for(const ColdMachine& machine, std::uint32_t function, std::uint16_t gpu) {
  const auto victims =
      victims_for(machine.view(),
                  {.function = SharedFunctionId(function), .invoker = InvokerId(0), .gpu = gpu, .worth = kAnything});
  EXPECT_TRUE(victims);
  std::vector<std::uint32_t> out;
  for (const InstanceId id : victims ? victims->list : std::vector<InstanceId>{}) {
    EXPECT_EQ(machine.instance(id).gpu, gpu);
    out.push_back(machine.instance(id).function.value());
  }
  std::sort(out.begin(), out.end());
  return out;
}

using Functions = std::vector<std::uint32_t>;

TEST(PlaceToLoad, OfEqualGpusTheFirstIsTaken) {
  EXPECT_EQ(gpu_for(two_gpus({{}}), 0), 0);
}

TEST(PlaceToLoad, IsTheGpuWithRoom) {
  ColdMachine machine = two_gpus({{.gb = 2}, {}});
  machine.ready(0, 0);
  EXPECT_EQ(gpu_for(machine, 1), 1);
  EXPECT_EQ(evicted_for(machine, 1, 1), Functions{});
}

TEST(PlaceToLoad, IsTheGpuWithRoomThoughItHasFewerFreeSlices) {
  ColdMachine machine = two_gpus({{.gb = 2}, {}, {}});
  machine.ready(0, 0).called_every(1000, 0).busy(1, 1);
  EXPECT_EQ(gpu_for(machine, 2), 1);
}

TEST(PlaceToLoad, OfGpusWithRoomIsTheOneWithMoreFreeSlices) {
  ColdMachine machine = two_gpus({{}, {}});
  machine.busy(0, 0);
  EXPECT_EQ(gpu_for(machine, 1), 1);
}

TEST(PlaceToLoad, IsNotWhereWhatIsWaitedForLongerWouldHaveToGo) {
  ColdMachine machine = two_gpus({{.gb = 2}, {.gb = 2}, {}});
  machine.ready(0, 0).called_every(1000, 0).ready(1, 1).called_every(10, 1);
  EXPECT_EQ(gpu_for(machine, 2), 0);  // function 1 is called more often
  machine.waits_for(0, 0).waits_for(2, 5).at(6);
  EXPECT_EQ(gpu_for(machine, 2), 1);
}

TEST(PlaceToLoad, IsNowhereIfEverythingIsWaitedForLonger) {
  ColdMachine machine = two_gpus({{.gb = 2}, {.gb = 2}, {}});
  machine.ready(0, 0).ready(1, 1).waits_for(0, 0).waits_for(1, 1).waits_for(2, 5).at(6);
  EXPECT_EQ(gpu_for(machine, 2), -1);
}

TEST(PlaceToLoad, IsTheGpuOfWhatCostsLeastToMiss) {
  for (const std::uint16_t rare : kGpus) {
    ColdMachine machine = two_gpus({{.gb = 2}, {.gb = 2}, {}});
    const auto often = static_cast<std::uint16_t>(1 - rare);
    machine.ready(0, rare).called_every(1000, 0).ready(1, often).called_every(10, 1);
    EXPECT_EQ(gpu_for(machine, 2), rare);
    EXPECT_EQ(evicted_for(machine, 2, rare), Functions{0});
    EXPECT_EQ(evicted_for(machine, 2, often), Functions{1});  // if a policy wishes it there all the same
  }
}

// The two that are called least often are on different GPUs: for a function that needs a whole GPU, the two go that
// together are called less often.
TEST(PlaceToLoad, IsOneGpuForAllThatGoes) {
  ColdMachine machine = two_gpus({{}, {}, {}, {}, {.gb = 2}});
  machine.ready(0, 0).called_every(10'000, 0).ready(1, 0).called_every(10, 1);
  machine.ready(2, 1).called_every(1000, 2).ready(3, 1).called_every(1000, 3);
  EXPECT_EQ(gpu_for(machine, 4), 1);
  EXPECT_EQ(evicted_for(machine, 4, 1), (Functions{2, 3}));
}

TEST(PlaceToLoad, LosesNoMoreThanTheLoadNeeds) {
  ColdMachine machine = two_gpus({{}, {}, {}, {}, {}});
  machine.ready(0, 0).called_every(10, 0).ready(1, 0).called_every(20, 1);
  machine.ready(2, 1).called_every(1000, 2).ready(3, 1).called_every(2000, 3);
  EXPECT_EQ(gpu_for(machine, 4), 1);
  EXPECT_EQ(evicted_for(machine, 4, 1), Functions{3});
}

TEST(PlaceToLoad, IsNowhereIfOnlyTwoGpusTogetherHaveRoom) {
  ColdMachine machine = two_gpus({{}, {}, {.gb = 1.5}});
  machine.busy(0, 0).busy(1, 1);  // 1 GB is free on each
  EXPECT_EQ(gpu_for(machine, 2), -1);
}

TEST(PlaceToLoad, IsNowhereForWhatIsLargerThanAGpu) {
  const ColdMachine machine = two_gpus({{.gb = 3}});
  EXPECT_EQ(gpu_for(machine, 0), -1);
  for (const std::uint16_t gpu : kGpus) {
    EXPECT_FALSE(victims_for(
        machine.view(), {.function = SharedFunctionId(0), .invoker = InvokerId(0), .gpu = gpu, .worth = kAnything}));
  }
}

// An instance runs one batch at once, and a GPU of one slice as well.
TEST(PlaceToLoad, OfAnotherInstanceIsWhereItCouldRunBesideTheFirst) {
  ColdMachine machine = two_gpus({{}}, 1);
  machine.ready(0, 0);
  EXPECT_EQ(gpu_for(machine, 0), 1);
  machine.ready(0, 1);
  EXPECT_EQ(gpu_for(machine, 0), -1);
}

}  // namespace
}  // namespace sluice::policy
