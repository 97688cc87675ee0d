// What workers may use is what they get, by control groups and without.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "base/text.h"
#include "domain/principal.h"
#include "invoker/cgroup.h"
#include "invoker/scene.h"
#include "support/places.h"
#include "support/sanitized.h"

namespace sluice::invoker_test {
namespace {

// What control groups of ours there are.
std::size_t groups_of_ours() {
  const std::string own = str("sluice-", ::getpid());
  std::size_t count = 0;
  std::ifstream mounts("/proc/self/mounts");
  for (std::string device, folder, rest; mounts >> device >> folder && std::getline(mounts, rest);) {
    if (folder.find("cgroup") == std::string::npos) continue;
    for (const std::string& name : names_in(folder)) count += name == own ? 1 : 0;
  }
  return count;
}

class LimitsTest : public testing::TestWithParam<bool> {
 protected:
  // Where no group can be made, the half about them would silently repeat the other one.
  void SetUp() override {
    if (!GetParam()) return;
    const invoker::CgroupRoot probe(str("sluice-probe-", ::getpid()));
    if (!probe.limits_cpu() && !probe.limits_memory())
      GTEST_SKIP() << "no control groups can be made here (they need root and a writable cgroup file system)";
  }
  static invoker::AgentOptions options() {
    invoker::AgentOptions out;
    out.spawner.worker = test::worker_program();
    out.control_groups = GetParam();
    out.hang_least = Duration::s(30);
    return out;
  }
  static std::string program(const std::string& what, int memory_mb) {
    return str(
        "{runtime: process, command: [", test::burn(), ", ", what, "], memory: ", memory_mb + test::kSanitizerMb,
        "MB, outputs: {y: {type: FP64, shape: [1]}}, profile: {table: [[1, 1, 0, 1.0, 0.1], [1, 2, 0, 1.0, 0.1]]}}");
  }
  static double answer(Scene& scene) {
    const auto left = scene.objects().get(RequestId(1), {.outermost = 1, .stage = StageId(0)});
    double out = 0;
    if (left != nullptr) std::memcpy(&out, left->at(0).bytes().data(), sizeof out);
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(, LimitsTest, testing::Bool(),
                         [](const auto& limits) { return limits.param ? "ByControlGroups" : "WithoutThem"; });

// Two threads could use half a second of CPU time in a quarter of a second. A busy machine makes it longer, never
// shorter.
TEST_P(LimitsTest, OneVcpuIsNoMoreThanOneCpuWhateverTheThreads) {
  Scene scene(alone("f", program("cpu", 1000)), options());
  scene.load();
  ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
  (void)scene.start(1, 1);
  const auto finished = scene.next<BatchFinished>();
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->results.at(0).error, "");
  EXPECT_GT(answer(scene), 0.4);
}

// Whatever its batches were given.
TEST_P(LimitsTest, ATenantHasNoMoreThanItsVcpus) {
  if (!GetParam()) GTEST_SKIP() << "tenants are limited by control groups alone";
  Scene scene(alone("f", program("cpu", 1000)), options());
  scene.load();
  ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
  scene.agent().limit(std::string(sluice::kDefaultTenant), 1);
  (void)scene.start(1, 2);
  const auto finished = scene.next<BatchFinished>();
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->results.at(0).error, "");
  EXPECT_GT(answer(scene), 0.4);
}

TEST_P(LimitsTest, OneThatHoldsMoreThanItsMemoryIsReplaced) {
  Scene scene(alone("f", program(std::to_string(40 + test::kSanitizerMb), 20)), options());
  scene.load();
  ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
  (void)scene.start();
  const auto finished = scene.next<BatchFinished>();
  ASSERT_TRUE(finished.has_value());
  if (GetParam() && scene.agent().limits().limits_memory()) {  // the program was ended, not its worker
    EXPECT_NE(finished->results.at(0).error.find("signal 9"), std::string::npos) << finished->results.at(0).error;
  } else {
    EXPECT_EQ(finished->results.at(0).error, "");
    EXPECT_TRUE(scene.next<InstanceUnloaded>().has_value());
    EXPECT_TRUE(scene.agent().workers().empty());
  }
}

TEST_P(LimitsTest, OneThatKeepsToItsMemoryStays) {
  Scene scene(alone("f", program("40", 200)), options());
  scene.load();
  ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
  (void)scene.start();
  EXPECT_EQ(scene.next<BatchFinished>()->results.at(0).error, "");
  EXPECT_EQ(scene.agent().workers().size(), 1u);
}

// Tensors are in shared memory, which belongs to whoever touches it first if nobody takes care.
TEST_P(LimitsTest, OutputsAreNotHeldAgainstItsMemory) {
  invoker::AgentOptions hostile = options();
  hostile.spawner.worker = test::hostile_worker();
  Scene scene(alone("writes 40 MB", str("{runtime: process, command: unused, memory: ", 20 + test::kSanitizerMb,
                                        "MB, profile: {table: [[1, 1, 0, 1.0, 0.1]]}}")),
              hostile);
  scene.load();
  ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
  (void)scene.start();
  const auto finished = scene.next<BatchFinished>();
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->results.at(0).error, "");
  EXPECT_EQ(scene.agent().workers().size(), 1u);
}

TEST_P(LimitsTest, WhatAProgramStartedEndsWithIt) {
  const std::string script = "\"sleep 1000 & while read line; do echo $!; echo '{\\\"y\\\": 1.0}' >&3; done\"";
  int sleeper = 0;
  {
    Scene scene(
        alone("f", str("{runtime: process, command: [sh, -c, ", script, "], profile: {table: [[1, 1, 0, 1.0, 0.1]]}}")),
        options());
    scene.load();
    ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
    (void)scene.start();
    EXPECT_EQ(scene.next<BatchFinished>()->results.at(0).error, "");
    ASSERT_FALSE(scene.lines().empty());
    sleeper = std::stoi(scene.lines().front());
    EXPECT_EQ(::kill(sleeper, 0), 0);
  }
  // Ended by a signal, which takes effect in its own time; whoever adopted it may be slow to see that.
  const auto gone = [&] {
    std::ifstream file(str("/proc/", sleeper, "/stat"));
    std::string pid, name, state;
    return !(file >> pid >> name >> state) || state == "Z" || state == "X";
  };
  const Time until = data::now() + Duration::s(10);
  while (!gone() && data::now() < until) ::sched_yield();
  EXPECT_TRUE(gone());
  EXPECT_EQ(groups_of_ours(), 0u);
}

}  // namespace
}  // namespace sluice::invoker_test
