#include "cli/this_machine.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

constexpr const char* kTwo =
    "GPU-11111111-2222-3333-4444-555555555555\t132\t150000000000\tNVIDIA H200\n"
    "GPU-66666666-7777-8888-9999-000000000000\t132\t150000000000\tNVIDIA H200\n";

TEST(ThisMachine, ReadsWhatTheWorkerSaysOfGpus) {
  const auto found = read_gpus(kTwo);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[1], (invoker::GpuDevice{.uuid = "GPU-66666666-7777-8888-9999-000000000000",
                                             .name = "NVIDIA H200",
                                             .multiprocessors = 132,
                                             .memory = Bytes::gb(150)}));
  EXPECT_TRUE(read_gpus("")->empty());
  for (const char* wrong : {"GPU-1\t132\tmuch\tNVIDIA H200\n", "GPU-1\t132\t1000\n", "usage: sluice-worker\n",
                            "GPU-1\t0\t1000\tNVIDIA H200\n", "1\t132\t1000\tNVIDIA H200\n"}) {
    EXPECT_NE(read_gpus(wrong).error().message.find("is it of this version?"), std::string::npos) << wrong;
  }
}

TEST(ThisMachine, SharesGpusInSlicesOfSixteenSms) {
  const auto shared = shared_as({}, read_gpus(kTwo).value());
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(shared->slices, 8u);
  EXPECT_EQ(shared->describe(), "green contexts, 8 slices of 16 SMs; tenants take turns");
  const NodeGroup node = this_machine(*shared);
  EXPECT_EQ(node.gpus, 2u);
  EXPECT_EQ(node.slices_per_gpu, 8u);
  EXPECT_EQ(node.device, DeviceKind("h200"));
  EXPECT_EQ(node.layout, SliceLayout::buddy);
  EXPECT_LT(node.gpu_memory, Bytes::gb(150));
  EXPECT_GT(node.gpu_memory, Bytes::gb(100));
  UpOptions options;
  options.gpu_mode = "stream";
  options.gpu_slices = 7;
  EXPECT_EQ(shared_as(options, read_gpus(kTwo).value())->describe(),
            "not enforced: 7 streams share all SMs; tenants take turns");
}

TEST(ThisMachine, LetsTenantsComputeAtTheSameTimeWhereThatIsAskedFor) {
  UpOptions options;
  options.gpu_mps = true;
  EXPECT_EQ(shared_as(options, read_gpus(kTwo).value())->describe(),
            "green contexts, 8 slices of 16 SMs; tenants at the same time (MPS)");
}

TEST(ThisMachine, SharesGpusAsItIsTold) {
  const auto described = [](const char* mode, bool mps = false) {
    UpOptions options;
    options.gpu_mode = mode;
    options.gpu_mps = mps;
    return shared_as(options, read_gpus(kTwo).value())->describe();
  };
  EXPECT_EQ(described("priority"),
            "not enforced: 8 streams share all SMs, those of fewer slices first; tenants take turns");
  EXPECT_EQ(described("none"), "not enforced: a process for each function, the driver shares time among them");
  EXPECT_EQ(described("none", true), "not enforced: a process for each function, all at the same time (MPS)");
}

TEST(ThisMachine, TakesMigDevicesAsGpusOfOneSlice) {
  const auto found = read_gpus(
      "MIG-11111111-2222-3333-4444-555555555555\t16\t17000000000\tNVIDIA H200 MIG 1g.18gb\n"
      "MIG-66666666-7777-8888-9999-000000000000\t16\t17000000000\tNVIDIA H200 MIG 1g.18gb\n");
  ASSERT_TRUE(found.ok());
  const auto shared = shared_as({}, *found);
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(shared->mode, GpuMode::mig);
  EXPECT_EQ(shared->slices, 1u);
  EXPECT_EQ(this_machine(*shared).gpus, 2u);
  UpOptions options;
  options.gpu_slices = 2;
  EXPECT_EQ(shared_as(options, *found).error().message, "--gpu-slices 2: a MIG device is one slice");
  options = {};
  options.gpu_mode = "mig";
  EXPECT_EQ(shared_as(options, read_gpus(kTwo).value()).error().message,
            "--gpu-mode mig: NVIDIA H200 has no MIG devices (`nvidia-smi -L` lists them; Sluice never makes any)");
}

TEST(ThisMachine, HasNoGpusWhereNoneAreFoundOrWanted) {
  UpOptions options;
  EXPECT_EQ(this_machine(*shared_as(options, {})).gpus, 0u);
  options.gpus = "none";
  EXPECT_EQ(this_machine(*shared_as(options, read_gpus(kTwo).value())).gpus, 0u);
}

TEST(ThisMachine, SaysWhichOptionOfGpusIsWrong) {
  const auto why = [](UpOptions options, const char* printed = kTwo) {
    return shared_as(options, read_gpus(printed).value()).error().message;
  };
  UpOptions options;
  EXPECT_EQ(why({}, "GPU-1\t132\t1000\tNVIDIA H200\nGPU-2\t108\t1000\tNVIDIA A100\n"),
            "--gpus auto found different ones, NVIDIA H200 and NVIDIA A100: name equal ones with CUDA_VISIBLE_DEVICES");
  options.gpu_slices = 40;
  EXPECT_EQ(why(options, "GPU-1\t14\t1000\tNVIDIA T1000\n"), "--gpu-slices 40: NVIDIA T1000 has at most 14");
}

}  // namespace
}  // namespace sluice::cli
