// Profiling in real workers: what they print, take and do wrong.
#include "invoker/profiler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/text.h"
#include "invoker/cgroup.h"
#include "invoker/scene.h"
#include "support/places.h"
#include "support/sanitized.h"

namespace sluice::invoker_test {
namespace {

Result<ProfileTable> measure(const std::string& function, const std::string& worker = test::worker_program(),
                             const std::string& name = "f") {
  const Application application = alone(name, function);
  invoker::Spawner spawner({.worker = worker});
  const auto arena = std::move(data::Arena::make(Bytes::mb(64)).value());
  invoker::ProfilePlan plan{.batch = {1, 2}, .budget = Duration::s(30), .runs_least = 40, .runs_most = 40};
  plan.patience = {.hang_least = Duration::ms(300), .load_max = Duration::s(20)};
  plan.sample = data::Tensors{{.info = {"x", DataType::uint8, {1}}, .block = *arena->allocate(1), .size = 1}};
  return invoker::measure(application.functions.at(0), plan, spawner, arena, [](const auto&) { return true; });
}
std::string shell(const std::string& script, const std::string& more = "") {
  return str("{runtime: process, command: [sh, -c, \"", script, "\"]", more, "}");
}

// 40 runs of 2 KB and more are what a pipe does not hold.
TEST(Profiler, ReadsWhatAFunctionPrints) {
  const auto table =
      measure(shell("while read line; do head -c 2500 /dev/zero | tr '\\\\0' x; echo; "
                    "echo '{\\\"y\\\": 1}' >&3; done"));
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->rows.size(), 2u);
}

TEST(Profiler, SaysHowAWorkerEnded) {
  const auto killed = measure(shell("read line; echo this is the end; kill -SEGV $PPID; sleep 1000"));
  ASSERT_FALSE(killed.ok());
  EXPECT_EQ(
      killed.error().message,
      "WorkerFailed: the worker of function 'f' was killed by signal 11 (SIGSEGV); it printed last: this is the end");
  const auto exited = measure("{runtime: process, command: unused}", test::hostile_worker(), "ends at load");
  ASSERT_FALSE(exited.ok());
  EXPECT_EQ(exited.error().message,
            "WorkerFailed: the worker of function 'ends at load' exited with code 3; it printed last: the library is "
            "not there");
}

TEST(Profiler, SaysHowAProgramEnded) {
  const auto exited = measure(shell("read line; echo no more paper; exit 3"));
  ASSERT_FALSE(exited.ok());
  EXPECT_EQ(exited.error().message,
            "the program exited with code 3 before it had answered; it printed last: no more paper");
}

TEST(Profiler, DoesNotWaitForEverForAFunctionThatHangs) {
  const auto table = measure(shell("read line; echo '{\\\"y\\\": 1}' >&3; read line; sleep 1000"));
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().message, "WorkerFailed: the worker of function 'f' did not answer in time");
}

// It is measured under the limits that it will run under.
TEST(Profiler, HoldsAFunctionToItsMemory) {
  const invoker::CgroupRoot probe(str("sluice-probe-", ::getpid()));
  if (!probe.limits_memory()) GTEST_SKIP() << "no control groups can be made here";
  const auto with = [](int holds_mb) {
    return measure(str("{runtime: process, command: [", test::burn(), ", ", holds_mb,
                       "], memory: ", 200 + test::kSanitizerMb, "MB, outputs: {y: {type: FP64, shape: [1]}}}"));
  };
  const auto enough = with(1), too_little = with(300 + test::kSanitizerMb);
  EXPECT_TRUE(enough.ok()) << enough.error().message;
  ASSERT_FALSE(too_little.ok());
  EXPECT_NE(too_little.error().message.find("signal 9"), std::string::npos) << too_little.error().message;
}

TEST(Profiler, BelievesNothingOutsideOfTheSpace) {
  const auto table = measure("{runtime: process, command: unused}", test::hostile_worker(), "claims the memory behind");
  ASSERT_FALSE(table.ok());
  EXPECT_NE(table.error().message.find("not its own"), std::string::npos) << table.error().message;
}

}  // namespace
}  // namespace sluice::invoker_test
