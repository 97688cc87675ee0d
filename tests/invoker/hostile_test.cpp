// Workers that crash, hang and lie: each costs what it runs and itself, nothing else.
#include <gtest/gtest.h>

#include <csignal>

#include "invoker/scene.h"
#include "support/places.h"

namespace sluice::invoker_test {
namespace {

invoker::AgentOptions hostile() {
  invoker::AgentOptions out;
  out.spawner.worker = test::hostile_worker();
  out.spawner.pass = {"HELD"};
  out.hang_least = Duration::ms(200);
  out.load_max = Duration::ms(500);
  return out;
}

constexpr const char* kProcess = "{runtime: process, command: unused, profile: {table: [[8, 1, 0, 1.0, 0.1]]}}";

struct Manner {
  const char* name;
  const char* why;  // part of the reason
};
void PrintTo(const Manner& manner, std::ostream* out) {
  *out << manner.name;
}

class HostileTest : public testing::TestWithParam<Manner> {
 protected:
  Held before_ = held_now();
};

class AtLoad : public HostileTest {};
class AtRun : public HostileTest {};

TEST_P(AtLoad, FailsTheLoadWithAReasonAndIsGone) {
  {
    Scene scene(alone(GetParam().name, kProcess), hostile());
    scene.load();
    const auto failed = scene.next<LoadFailed>();
    ASSERT_TRUE(failed.has_value());
    EXPECT_NE(failed->error.find(GetParam().why), std::string::npos) << failed->error;
    EXPECT_NE(failed->error.find(std::string("'") + GetParam().name + "'"), std::string::npos) << failed->error;
    EXPECT_TRUE(scene.agent().workers().empty());
    EXPECT_FALSE(scene.happened<InstanceUnloaded>());
    EXPECT_EQ(scene.arena().used(), 0u);
    EXPECT_TRUE(children_are(before_.children));
  }
  EXPECT_EQ(held_now(), before_);
}
INSTANTIATE_TEST_SUITE_P(Hostile, AtLoad,
                         testing::Values(Manner{"silent at load", "did not answer in time"},
                                         Manner{"ends at load", "the library is not there"},
                                         Manner{"fails to load", "the model is not there"}));

TEST_P(AtRun, FailsTheBatchWithAReasonAndIsGone) {
  {
    Scene scene(alone(GetParam().name, kProcess), hostile());
    scene.load();
    ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
    const BatchId batch = scene.start(2).batch;
    const auto failed = scene.next<BatchFailed>();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->id, batch);
    EXPECT_NE(failed->error.find(GetParam().why), std::string::npos) << failed->error;
    EXPECT_NE(failed->error.find(std::string("'") + GetParam().name + "'"), std::string::npos) << failed->error;
    const auto gone = scene.next<InstanceUnloaded>();
    ASSERT_TRUE(gone.has_value());
    EXPECT_EQ(gone->level, Level::none);
    EXPECT_TRUE(scene.agent().workers().empty());
    EXPECT_EQ(scene.agent().counters().crashes, 1u);
    scene.forget();
    EXPECT_TRUE(children_are(before_.children));
    scene.agent().stop();  // what it could write is free when it is gone
    EXPECT_EQ(scene.arena().used(), 0u);
  }
  EXPECT_EQ(held_now(), before_);
}
INSTANTIATE_TEST_SUITE_P(
    Hostile, AtRun,
    testing::Values(
        Manner{"ends", "exited with code 3"}, Manner{"hangs", "did not answer in time"},
        Manner{"never reads", "did not answer in time"}, Manner{"speaks garbage", "rubbish"},
        Manner{"sends too much", "more than a message may have"}, Manner{"answers another batch", "was not asked"},
        Manner{"wants space for another batch", "for no batch"}, Manner{"floods its log", "did not answer in time"},
        Manner{"answers for too many rows", "other rows"}, Manner{"says it kept it", "was not asked to"},
        Manner{"says it fetched it", "fetched what it was not asked to"},
        Manner{"claims the memory before", "not its own"}, Manner{"claims the memory behind", "not its own"},
        Manner{"claims more than there is", "not its own"}, Manner{"claims an offset that wraps", "not its own"},
        Manner{"claims another shape", "type and shape"}, Manner{"claims other rows", "does not have 2 rows"}));

TEST_F(HostileTest, OneThatAnswersBeforeItIsAskedIsGone) {
  Scene scene(alone("answers before it is asked", kProcess), hostile());
  scene.load();
  while (scene.agent().counters().crashes == 0) scene.wait();
  EXPECT_TRUE(scene.happened<LoadFailed>() || scene.happened<InstanceUnloaded>());
  EXPECT_TRUE(scene.agent().workers().empty());
}

TEST_F(HostileTest, OneThatSaysTwiceThatItIsLoadedIsGone) {
  Scene scene(alone("loads twice", kProcess), hostile());
  scene.load();
  (void)scene.next<InstanceLoaded>();
  EXPECT_TRUE(scene.next<InstanceUnloaded>().has_value());
}

TEST_F(HostileTest, KilledWhileIdleTheInstanceIsToldGone) {
  Scene scene(alone("good", kProcess), hostile());
  scene.load();
  (void)scene.next<InstanceLoaded>();
  ASSERT_GT(scene.pid(), 0);
  ::kill(static_cast<pid_t>(scene.pid()), SIGKILL);
  const auto gone = scene.next<InstanceUnloaded>();
  ASSERT_TRUE(gone.has_value());
  EXPECT_FALSE(scene.happened<BatchFailed>());
  EXPECT_TRUE(children_are(before_.children));
}

TEST_F(HostileTest, KilledWhileItIsRaisedTheLoadFailsAndTheInstanceIsToldGone) {
  Scene scene(alone("good",
                    "{runtime: process, command: unused, cold_start: {device: 1h}, "
                    "profile: {table: [[8, 1, 1, 1.0, 0.1]]}}"),
              hostile());
  scene.load(1, Level::device);
  (void)scene.next<InstanceLoaded>();
  scene.lower(1, Level::host);
  (void)scene.next<InstanceUnloaded>();
  scene.load(1, Level::device);
  ::kill(static_cast<pid_t>(scene.pid()), SIGKILL);
  EXPECT_TRUE(scene.next<LoadFailed>().has_value());
  EXPECT_EQ(scene.next<InstanceUnloaded>()->level, Level::none);
}

TEST_F(HostileTest, ABatchForAWorkerThatIsGoneFails) {
  Scene scene(alone("good", kProcess), hostile());
  scene.load();
  (void)scene.next<InstanceLoaded>();
  ::kill(static_cast<pid_t>(scene.pid()), SIGKILL);
  (void)scene.next<InstanceUnloaded>();
  (void)scene.start();
  const auto failed = scene.next<BatchFailed>();
  ASSERT_TRUE(failed.has_value());
  EXPECT_NE(failed->error.find("'good'"), std::string::npos) << failed->error;
}

TEST_F(HostileTest, WantingMoreThanThereIsCostsTheBatchOnly) {
  Scene scene(alone("wants everything", kProcess), hostile());
  scene.load();
  (void)scene.next<InstanceLoaded>();
  (void)scene.start();
  const auto finished = scene.next<BatchFinished>();
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->results.at(0).error, "NoSpace");
  EXPECT_EQ(scene.agent().workers().size(), 1u);
}

// The first answer may be rubbish already when it is looked at; then the worker is gone. Every later look has bounds.
TEST_F(HostileTest, LengthsThatChangeWhileTheyAreReadLeadNowhere) {
  Scene scene(alone("changes lengths", kProcess), hostile());
  scene.load();
  (void)scene.next<InstanceLoaded>();
  const RequestId request = scene.start().requests.front();
  if (!scene.next_of<BatchFinished, BatchFailed>()) return;
  const auto left = scene.objects().get(request, {.outermost = request.value(), .stage = StageId(0)});
  ASSERT_NE(left, nullptr);
  const data::Tensor& y = left->front();
  const std::size_t end = y.offset + y.size;
  for (int turn = 0; turn < 1'000; ++turn) {
    for (std::uint32_t row = 0; row < 64; row += 7) {
      const auto text = data::row_of(y, row);
      ASSERT_TRUE(text.has_value());
      ASSERT_EQ(text->size, 5u);
      ASSERT_LE(text->offset + text->size, end);
    }
    ASSERT_EQ(data::texts_of(y)->size(), 64u);
  }
}

TEST_F(HostileTest, TheArenaCannotBeCut) {
  Scene scene(alone("cuts the arena", kProcess), hostile());
  scene.load();
  (void)scene.next<InstanceLoaded>();
  (void)scene.start();
  EXPECT_TRUE(scene.next<BatchFinished>().has_value());
  EXPECT_EQ(scene.lines(), std::vector<std::string>{"sealed"});
}

// What is measured is learned from: nobody may say that a batch took longer than it was away.
TEST_F(HostileTest, WhatItSaysItTookIsNoMoreThanTheTimeThatPassed) {
  Scene scene(alone("says it took for ever", kProcess), hostile());
  scene.load();
  (void)scene.next<InstanceLoaded>();
  (void)scene.start();
  const auto finished = scene.next<BatchFinished>();
  ASSERT_TRUE(finished.has_value());
  EXPECT_LE(finished->measured, finished->held);
}

// The end of a pipe is reported as long as it is watched: the agent would never sleep again.
TEST_F(HostileTest, OneThatClosesItsOutputDoesNotKeepTheAgentAwake) {
  Scene scene(alone("closes its output", kProcess), hostile());
  scene.load();
  (void)scene.next<InstanceLoaded>();
  int polls = 0;
  for (const Time until = data::now() + Duration::ms(50); data::now() < until; ++polls) {
    scene.wait(until);
  }
  EXPECT_LT(polls, 10);
  (void)scene.start();
  EXPECT_TRUE(scene.next<BatchFinished>().has_value());
}

TEST_F(HostileTest, WhatItPrintedLastIsKeptWithoutTheEndOfItsLine) {
  Scene scene(alone("ends", kProcess), hostile());
  scene.load();
  (void)scene.next<InstanceLoaded>();
  (void)scene.start();
  (void)scene.next<BatchFailed>();
  EXPECT_EQ(scene.lines(), std::vector<std::string>{"this is the end"});
}

// Every process that is made costs the others on the machine.
TEST_F(HostileTest, OneThatCrashesInCirclesIsMadeMoreAndMoreSlowly) {
  Scene scene(alone("ends", kProcess), hostile());
  const auto time_to_load = [&] {
    const Time began = data::now();
    scene.load();
    (void)scene.next<InstanceLoaded>();
    (void)scene.start();
    (void)scene.next<BatchFailed>();
    return data::now() - began;
  };
  for (std::uint32_t i = 0; i <= invoker::CrashPauses::kFree; ++i) (void)time_to_load();
  EXPECT_TRUE(std::ranges::none_of(scene.notes(), [](const std::string& n) { return n.find("made in") != n.npos; }));
  EXPECT_GE(time_to_load(), invoker::CrashPauses::kFirst);
  EXPECT_GE(time_to_load(), invoker::CrashPauses::kFirst * 2);
  scene.load();
  scene.lower(1, Level::none);  // while it is not made yet
  EXPECT_TRUE(scene.next<InstanceUnloaded>().has_value());
}

// One that the system does not let end, here because somebody traces it.
TEST_F(HostileTest, OneThatIsSlowToDieKeepsNobodyElseFromRunningAndIsWaitedForAtTheEnd) {
  const std::string held = testing::TempDir() + "sluice-held-" + std::to_string(::getpid());
  std::ofstream(held) << "1";
  {
    Scene scene(alone("dies slowly", kProcess), hostile());
    ::setenv("HELD", held.c_str(), 1);
    scene.load(1);
    const bool traced = scene.next_of<InstanceLoaded, LoadFailed>();
    ::unsetenv("HELD");
    if (!traced) GTEST_SKIP() << "nobody may trace others here";
    scene.load(2);
    (void)scene.next<InstanceLoaded>();
    const std::string slow = "/proc/" + std::to_string(scene.pid(1));
    scene.lower(1, Level::none);
    (void)scene.start(1, 1, 2);
    EXPECT_TRUE(scene.next<BatchFinished>().has_value());
    EXPECT_EQ(::access(slow.c_str(), F_OK), 0);  // it is still there
    ::unlink(held.c_str());
  }
  EXPECT_EQ(held_now(), before_);
}

// A flood costs a bounded part of its lines, and every turn of the agent a bounded time.
TEST_F(HostileTest, AFloodOfLinesKeepsNobodyElseFromRunning) {
  invoker::AgentOptions options = hostile();
  options.hang_least = Duration::s(30);
  Scene scene(application_of("application: a\nslo: 1s\nfunctions: {floods its log: {runtime: process, command: unused, "
                             "profile: {table: [[8, 1, 0, 1.0, 0.1]]}}}\nworkflow: {floods its log: {}}\n"),
              options);
  scene.load(1);
  (void)scene.next<InstanceLoaded>();
  (void)scene.start(1, 1, 1);
  scene.load(2);  // while it floods
  EXPECT_TRUE(scene.next<InstanceLoaded>().has_value());
  EXPECT_LE(scene.lines().size(), std::size_t{64} << 10);
}

// Nobody waits for it any more: its vCPU is free as soon as it is overdue, its process goes later.
TEST_F(HostileTest, AWorkerThatHangsWithNobodyWaitingGivesItsVcpuUpBeforeItIsEnded) {
  auto options = hostile();
  options.hang_least = Duration::s(30);
  options.overdue_least = Duration::ms(50);
  options.end_least = Duration::ms(400);
  {
    Scene scene(alone("hangs", kProcess), options);
    scene.load();
    ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
    const BatchId batch = scene.start().batch;
    const Time told = data::now();
    scene.act(CancelBatch{.invoker = InvokerId(0), .id = batch});
    ASSERT_TRUE(scene.next<BatchFailed>().has_value());
    EXPECT_TRUE(scene.next<InstanceUnloaded>().has_value());
    EXPECT_LT(data::now() - told, Duration::ms(400));
    EXPECT_EQ(held_now().children, before_.children + 1);
    scene.load(2);  // another one serves meanwhile
    ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
    while (data::now() - told < Duration::ms(600)) scene.wait(told + Duration::ms(600));
    EXPECT_TRUE(children_are(before_.children + 1));
  }
  EXPECT_EQ(held_now(), before_);
}

TEST_F(HostileTest, AStageWithATimeoutFailsByThatNameAndItsWorkerIsEnded) {
  auto options = hostile();
  options.hang_least = Duration::s(30);
  auto application = alone("hangs", kProcess);
  application.workflow.stages.front().timeout = Duration::ms(100);
  {
    Scene scene(application, options);
    scene.load();
    ASSERT_TRUE(scene.next<InstanceLoaded>().has_value());
    (void)scene.start(2);
    const auto finished = scene.next<BatchFinished>();
    ASSERT_TRUE(finished.has_value());
    ASSERT_EQ(finished->results.size(), 2u);
    EXPECT_EQ(finished->results[1].outcome, Outcome::timed_out);
    EXPECT_EQ(finished->results[1].error, "Timeout: it took longer than its stage may, 100ms");
    EXPECT_GE(finished->measured, Duration::ms(100));
    EXPECT_TRUE(scene.next<InstanceUnloaded>().has_value());
    EXPECT_TRUE(children_are(before_.children));
  }
  EXPECT_EQ(held_now(), before_);
}

}  // namespace
}  // namespace sluice::invoker_test
