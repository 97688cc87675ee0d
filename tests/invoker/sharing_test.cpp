// Several functions in one worker process, several batches at once, and what a crash costs then. The workers are real.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/text.h"
#include "invoker/scene.h"
#include "support/eventually.h"
#include "support/places.h"

namespace sluice::invoker_test {
namespace {

// Where programs show that they run, one file each, and wait for the file `go`.
const std::string& meeting_place() {
  static const std::string folder = testing::TempDir() + "sluice-sharing-" + std::to_string(::getpid());
  return folder;
}
std::string waits() {
  return str("while read line; do touch ", meeting_place(), "/$$; until [ -e ", meeting_place(),
             "/go ]; do sleep 0.01; done; echo '{\\\"y\\\": 1}' >&3; done");
}
constexpr const char* kCrashes = "read line; kill -SEGV $PPID; sleep 1000";

std::string program(const std::string& name, const std::string& script) {
  return str("  ", name, ": {runtime: process, command: [sh, -c, \"", script,
             "\"], profile: {table: [[1, 1, 0, 1.0, 0.1]]}}\n");
}

// Three functions of one tenant: `a` and `b` work, `crashes` ends its worker.
Application three() {
  return application_of(str("application: a\nslo: 60s\nfunctions:\n", program("a", waits()), program("b", waits()),
                            program("crashes", kCrashes), "workflow: {a: {}, b: {}, crashes: {}}\n"));
}

FunctionId function(const Application& application, const std::string& name) {
  for (std::uint32_t f = 0; f < application.functions.size(); ++f) {
    if (application.functions[f].name == name) return FunctionId(f);
  }
  return FunctionId::none();
}

class SharingTest : public testing::Test {
 protected:
  static invoker::AgentOptions options(std::uint32_t lanes) {
    invoker::AgentOptions out;
    out.spawner.worker = test::worker_program();
    out.hang_least = Duration::s(30);
    if (lanes > 0) out.sharing[Runtime::process] = {.one_process = true, .lanes = lanes};
    return out;
  }
  explicit SharingTest(std::uint32_t lanes = 8) : scene_(three(), options(lanes)) {
    std::filesystem::create_directories(meeting_place());
    let_go();
  }
  ~SharingTest() override { std::filesystem::remove_all(meeting_place()); }
  static void let_go() { std::ofstream(meeting_place() + "/go") << "1"; }
  // From now on programs wait for let_go().
  static void hold() {
    for (const std::string& name : names_in(meeting_place())) std::filesystem::remove(meeting_place() + "/" + name);
  }

  void load(std::uint64_t instance, const std::string& name, std::uint32_t invoker = 0) {
    instances_[instance] = name;
    scene_.act(LoadInstance{.invoker = InvokerId(invoker),
                            .instance = InstanceId(instance),
                            .application = ApplicationId(0),
                            .function = function(application_, name),
                            .level = Level::host});
  }
  BatchId start(std::uint64_t instance) {
    return scene_.start_stage(StageId(function(application_, instances_[instance]).value()), {scene_.request()}, 1,
                              instance, function(application_, instances_[instance]));
  }
  void load_all() {
    load(1, "a");
    load(2, "b");
    load(3, "crashes");
    load(4, "a", 1);  // another machine: another process
    for (int i = 0; i < 4; ++i) {
      const auto loaded = scene_.next<InstanceLoaded>();
      ASSERT_TRUE(loaded.has_value());
      EXPECT_EQ(loaded->batches, 8u);
    }
  }

  const Application application_ = three();
  std::map<std::uint64_t, std::string> instances_;
  Held before_ = held_now();
  Scene scene_;
};

TEST_F(SharingTest, EightBatchesOfThreeFunctionsRunAtOnceInOneProcessAndACrashCostsThatProcessOnly) {
  load_all();
  EXPECT_EQ(scene_.pid(1), scene_.pid(2));
  EXPECT_EQ(scene_.pid(1), scene_.pid(3));
  EXPECT_NE(scene_.pid(1), scene_.pid(4));
  hold();
  for (int i = 0; i < 4; ++i) (void)start(1);
  for (int i = 0; i < 4; ++i) (void)start(2);
  EXPECT_EQ(scene_.agent().running(InvokerId(0)).size(), 8u);
  ASSERT_TRUE(test::eventually([] { return names_in(meeting_place()).size() == 8; }));  // none waits for another's end
  let_go();
  for (int i = 0; i < 8; ++i) {
    const auto finished = scene_.next<BatchFinished>();
    ASSERT_TRUE(finished.has_value());
    EXPECT_EQ(finished->results.at(0).error, "");
  }

  hold();
  std::set<BatchId> here, elsewhere;
  for (int i = 0; i < 4; ++i) here.insert(start(1));
  for (int i = 0; i < 3; ++i) here.insert(start(2));
  elsewhere.insert(start(4));
  here.insert(start(3));  // crashes
  for (int i = 0; i < 8; ++i) {
    const auto failed = scene_.next<BatchFailed>();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(here.erase(failed->id), 1u);
    EXPECT_TRUE(failed->error.starts_with("WorkerFailed: the worker of function '")) << failed->error;
    EXPECT_TRUE(failed->error.ends_with("was killed by signal 11 (SIGSEGV)")) << failed->error;
  }
  for (int i = 0; i < 3; ++i) EXPECT_LE(scene_.next<InstanceUnloaded>()->instance.value(), 3u);
  let_go();
  const auto finished = scene_.next<BatchFinished>();
  ASSERT_TRUE(finished.has_value());
  EXPECT_TRUE(elsewhere.contains(finished->id));
  EXPECT_EQ(finished->results.at(0).error, "");
  EXPECT_FALSE(scene_.happened<BatchFailed>());
  EXPECT_FALSE(scene_.happened<InstanceUnloaded>());
  ASSERT_EQ(scene_.agent().workers().size(), 1u);
  EXPECT_EQ(scene_.agent().workers()[0].instance, InstanceId(4));
  EXPECT_EQ(scene_.agent().counters().crashes, 1u);
}

TEST_F(SharingTest, AnInstanceThatIsEvictedLeavesTheOthersAndWaitsForItsBatches) {
  load_all();
  const BatchId last = start(1);
  scene_.lower(1, Level::none);
  const auto finished = scene_.next<BatchFinished>();
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->id, last);
  EXPECT_EQ(scene_.next<InstanceUnloaded>()->instance, InstanceId(1));
  EXPECT_EQ(scene_.agent().loaded(InvokerId(0)).size(), 2u);
  (void)start(2);
  EXPECT_EQ(scene_.next<BatchFinished>()->results.at(0).error, "");
  load(5, "a");  // into the process that is there
  ASSERT_TRUE(scene_.next<InstanceLoaded>().has_value());
  EXPECT_EQ(scene_.pid(5), scene_.pid(2));
  const std::int64_t pid = scene_.pid(2);
  for (const std::uint64_t instance : {2u, 3u, 5u}) {
    scene_.lower(instance, Level::none);
    EXPECT_EQ(scene_.next<InstanceUnloaded>()->instance, InstanceId(instance));
  }
  EXPECT_EQ(scene_.pid(2), 0);
  const Time until = data::now() + Duration::s(30);
  while (::kill(static_cast<pid_t>(pid), 0) == 0 && data::now() < until) ::sched_yield();
  EXPECT_EQ(::kill(static_cast<pid_t>(pid), 0), -1);
}

TEST_F(SharingTest, ACommandThatComesTwiceIsCarriedOutOnce) {
  load_all();
  const BatchId batch = start(1);
  scene_.repeat();
  EXPECT_EQ(scene_.next<BatchFinished>()->id, batch);
  scene_.repeat();
  (void)start(2);
  EXPECT_NE(scene_.next<BatchFinished>()->id, batch);
  EXPECT_FALSE(scene_.happened<BatchFailed>());
}

TEST_F(SharingTest, SaysWhatRunsAndWhatIsLoaded) {
  load_all();
  const BatchId batch = start(2);
  const auto running = scene_.agent().running(InvokerId(0));
  ASSERT_EQ(running.size(), 1u);
  EXPECT_EQ(running[0].id, batch);
  EXPECT_EQ(running[0].instance, InstanceId(2));
  EXPECT_EQ(running[0].invocations.size(), 1u);
  EXPECT_TRUE(scene_.agent().running(InvokerId(1)).empty());
  ASSERT_EQ(scene_.agent().loaded(InvokerId(1)).size(), 1u);
  EXPECT_EQ(scene_.agent().loaded(InvokerId(1))[0].level, Level::host);
  EXPECT_EQ(scene_.agent().loaded(InvokerId(1))[0].batches, 8u);
}

TEST_F(SharingTest, ACommandThatNobodyCarriesOutIsNoted) {
  scene_.act(Accept{.request = RequestId(1)});
  EXPECT_EQ(scene_.agent().counters().refused, 1u);
  ASSERT_EQ(scene_.notes().size(), 1u);
  EXPECT_NE(scene_.notes()[0].find("an answer"), std::string::npos);
}

class AloneTest : public SharingTest {
 protected:
  AloneTest() : SharingTest(0) {}
};

TEST_F(AloneTest, FunctionsHaveProcessesOfTheirOwnAndRunOneBatchAtATime) {
  load(1, "a");
  load(2, "b");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(scene_.next<InstanceLoaded>()->batches, 1u);
  EXPECT_NE(scene_.pid(1), scene_.pid(2));
  (void)start(1);
  const BatchId second = start(1);
  EXPECT_EQ(scene_.next<BatchFailed>()->id, second);
  EXPECT_EQ(scene_.next<BatchFinished>()->results.at(0).error, "");
}

// An emulated function can be stopped: what it was to take is no more waited for.
TEST(CancelTest, ABatchThatIsCancelledStopsWhereItCan) {
  invoker::AgentOptions options;
  options.spawner.worker = test::worker_program();
  Scene scene(alone("f", "{runtime: emulated, profile: {table: [[1, 1, 0, 600000.0, 0.0]]}}"), options);
  scene.load();
  ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
  const BatchId batch = scene.start().batch;
  scene.act(CancelBatch{.invoker = InvokerId(0), .id = batch});
  const auto failed = scene.next<BatchFailed>();
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->id, batch);
  EXPECT_EQ(failed->error, "Cancelled");
  EXPECT_EQ(scene.agent().workers().size(), 1u);
  scene.act(CancelBatch{.invoker = InvokerId(0), .id = batch});  // it is over
}

}  // namespace
}  // namespace sluice::invoker_test
