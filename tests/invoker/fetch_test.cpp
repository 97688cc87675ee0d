// Requests whose stages run on several machines: what is not where it is read is fetched, or made again. The workers
// are real.
#include <gtest/gtest.h>

#include <signal.h>

#include <set>

#include "invoker/machines.h"
#include "invoker/scene.h"

namespace sluice::invoker_test {
namespace {

constexpr const char* kChain = "  a: {function: copy}\n  b: {function: copy, after: a}\n";

// No stage runs where the one before it ran.
void move_on(Machines& machines) {
  machines.watch = [&](const Event& event) {
    if (const auto* finished = std::get_if<BatchFinished>(&event)) {
      if (machines.stage_of(finished->id) == StageId(0)) machines.drain(machines.where(finished->id));
    }
  };
}

TEST(Fetch, TheSecondStageReadsWhatTheFirstLeftOnAnotherMachine) {
  Machines machines(kChain, 2);
  move_on(machines);
  EXPECT_EQ(machines.call({3, 4}, {2}), "[2] 3 4");
  ASSERT_EQ(machines.ran(0).size(), 1u);
  ASSERT_EQ(machines.ran(1).size(), 1u);
  EXPECT_NE(machines.ran(0), machines.ran(1));
  EXPECT_EQ(machines.left(), 0u);
}

TEST(Fetch, ACallerGetsWhatTwoMachinesLeft) {
  Machines machines("  a: {function: copy}\n  b: {function: copy}\n", 2);
  // Until the two ran on different machines, which nobody promises for any one call.
  for (int i = 0; i < 10 || (machines.ran(0) == machines.ran(1) && i < 1'000); ++i) {
    EXPECT_EQ(machines.call({3}, {1}), "[1] 3; [1] 3");
  }
  EXPECT_NE(machines.ran(0), machines.ran(1));
  EXPECT_EQ(machines.left(), 0u);
}

// Both end at about the same time: whichever is last says whether the condition holds.
TEST(Fetch, AConditionComparesWhatTwoMachinesLeft) {
  Machines machines(
      "  a: {function: copy}\n  b: {function: copy}\n"
      "  c: {function: copy, after: [a, b], inputs: {x: a.x}, when: {a.x: '> 2', b.x: '< 9'}}\n"
      "  d: {function: copy, after: [a, b], inputs: {x: b.x}, when: otherwise}\n",
      2);
  std::size_t calls = 0;
  for (; calls < 20 || (machines.ran(0) == machines.ran(1) && calls < 1'000); ++calls) {
    EXPECT_EQ(machines.call({3}, {1}), "[1] 3");
    EXPECT_EQ(machines.call({1}, {1}), "[1] 1");
  }
  EXPECT_EQ(machines.ran(2).size(), calls);  // c for 3, d for 1
  EXPECT_EQ(machines.ran(3).size(), calls);
  EXPECT_NE(machines.ran(0), machines.ran(1));
  EXPECT_EQ(machines.left(), 0u);
}

TEST(Fetch, ItemsOfSeveralMachinesAreStackedWhereTheyAreRead) {
  Machines machines(
      "  each: {function: copy, foreach: request.x}\n"
      "  again: {function: copy, after: each, foreach: each.x}\n"
      "  all: {function: copy, after: again, inputs: {x: again.x}}\n",
      3);
  // On a busy machine the first to be loaded may have done all before the others are.
  const auto took_part = [&] { return std::set(machines.ran(0).begin(), machines.ran(0).end()).size(); };
  std::size_t calls = 0;
  for (; calls < 20 && took_part() < 2; ++calls)
    EXPECT_EQ(machines.call({1, 2, 3, 4, 5, 6}, {6, 1}), "[6,1] 1 2 3 4 5 6");
  EXPECT_GE(took_part(), 2u);
  EXPECT_EQ(machines.ran(1).size(), 6 * calls);
  EXPECT_EQ(machines.left(), 0u);
}

TEST(Fetch, WhatAMachineHeldThatCannotBeReachedIsMadeAgain) {
  Machines machines(kChain, 3, Duration::ms(200));
  std::set<std::uint32_t> cut;
  machines.watch = [&](const Event& event) {
    const auto* finished = std::get_if<BatchFinished>(&event);
    if (finished == nullptr || machines.stage_of(finished->id) != StageId(0) || !cut.empty()) return;
    cut.insert(machines.where(finished->id));
    machines.drain(*cut.begin());
    machines.cut(*cut.begin());
  };
  EXPECT_EQ(machines.call({3, 4}, {2}), "[2] 3 4");
  ASSERT_EQ(machines.ran(0).size(), 2u);
  EXPECT_EQ(machines.ran(0)[0], *cut.begin());
  EXPECT_FALSE(cut.contains(machines.ran(0)[1]));
}

// As after a restart that the scheduler has not heard of yet.
TEST(Fetch, WhatAMachineForgotIsMadeAgain) {
  Machines machines(kChain, 3);
  bool once = true;
  machines.watch = [&](const Event& event) {
    const auto* finished = std::get_if<BatchFinished>(&event);
    if (finished == nullptr || machines.stage_of(finished->id) != StageId(0) || !std::exchange(once, false)) return;
    const std::uint32_t m = machines.where(finished->id);
    machines.drain(m);
    machines.machine(m).objects.release(RequestId(1));
  };
  EXPECT_EQ(machines.call({3, 4}, {2}), "[2] 3 4");
  EXPECT_EQ(machines.ran(0).size(), 2u);
}

TEST(Fetch, WhatIsLostEveryTimeFailsTheRequestInTheEnd) {
  constexpr std::uint32_t kMachines = 6;
  Machines machines(kChain, kMachines);
  machines.watch = [&](const Event& event) {
    const auto* finished = std::get_if<BatchFinished>(&event);
    if (finished == nullptr || machines.stage_of(finished->id) != StageId(0)) return;
    machines.drain(machines.where(finished->id));
    for (std::uint32_t m = 0; m < kMachines; ++m) machines.machine(m).objects.release(RequestId(1));
  };
  EXPECT_EQ(machines.call({3, 4}, {2}), "ObjectLost");
  EXPECT_EQ(machines.ran(0).size(), 1 + core::Limits{}.attempts_max);
}

// --- while a batch waits for objects

// Other machines that never answer.
class Silent : public bus::Objects {
 public:
  std::uint64_t fetch(const bus::ObjectName& name, std::span<const InvokerId>, std::shared_ptr<data::Arena>,
                      OnFetched) override {
    asked.push_back(name);
    return asked.size();
  }
  void give_up(std::uint64_t) override { ++given_up; }
  [[nodiscard]] bool is_here(InvokerId place) const override { return place == InvokerId(0); }
  [[nodiscard]] std::span<const bus::Asker> askers(RequestId) const override { return {}; }
  void forget(RequestId request) override { forgotten.push_back(request); }

  std::vector<bus::ObjectName> asked;
  std::size_t given_up = 0;
  std::vector<RequestId> forgotten;
};

class FetchTest : public testing::Test {
 protected:
  static invoker::AgentOptions options(bus::Objects& others) {
    invoker::AgentOptions out;
    out.spawner.worker = test::worker_program();
    out.hang_least = Duration::s(30);
    out.others = &others;
    return out;
  }
  FetchTest()
      : scene_(application_of("application: a\nslo: 60s\nfunctions:\n"
                              "  copy: {runtime: emulated, profile: {table: [[1, 1, 0, 1.0, 0.0]]}}\nworkflow:\n" +
                              std::string(kChain)),
               options(silent_)) {
    scene_.load();
    EXPECT_TRUE(scene_.next<InstanceLoaded>().has_value());
  }
  // A batch of the second stage, of a request whose first stage ran elsewhere.
  BatchId start_second(Time latest = Time::max()) {
    StartBatch start{.id = BatchId(100),
                     .invoker = InvokerId(0),
                     .instance = InstanceId(1),
                     .application = ApplicationId(0),
                     .function = FunctionId(0),
                     .members = {{.invocation = InvocationId(1),
                                  .request = RequestId(50),
                                  .run = 50,
                                  .stage = StageId(1),
                                  .places = {InvokerId(1)}}},
                     .configuration = configuration(1, 1, 0),
                     .latest = latest};
    scene_.act(start);
    return start.id;
  }

  Silent silent_;
  Scene scene_;
};

TEST_F(FetchTest, NothingIsAskedForWhereEverythingIsHere) {
  const auto started = scene_.start();
  ASSERT_TRUE(scene_.next<BatchFinished>().has_value());
  scene_.start_stage(StageId(1), started.requests);
  ASSERT_TRUE(scene_.next<BatchFinished>().has_value());
  EXPECT_TRUE(silent_.asked.empty());
}

TEST_F(FetchTest, ABatchThatWaitsPastItsWindowDidNotRun) {
  const BatchId batch = start_second(data::now() + Duration::ms(50));
  EXPECT_EQ(silent_.asked.size(), 1u);
  EXPECT_LE(scene_.agent().due(), data::now() + Duration::ms(50));
  const auto expired = scene_.next<BatchExpired>();
  ASSERT_TRUE(expired.has_value());
  EXPECT_EQ(expired->id, batch);
  EXPECT_EQ(silent_.given_up, 1u);
  EXPECT_TRUE(scene_.agent().running(InvokerId(0)).empty());
}

TEST_F(FetchTest, ABatchThatWaitsIsRunningAndCanBeCancelled) {
  const BatchId batch = start_second();
  ASSERT_EQ(scene_.agent().running(InvokerId(0)).size(), 1u);  // what is booked for it stays booked
  scene_.act(CancelBatch{.invoker = InvokerId(0), .id = batch});
  const auto failed = scene_.next<BatchFailed>();
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->error, "Cancelled");
  EXPECT_EQ(silent_.given_up, 1u);
}

TEST_F(FetchTest, AWorkerThatEndsTakesABatchAlongThatWaits) {
  (void)start_second();
  ::kill(static_cast<pid_t>(scene_.pid()), SIGKILL);
  ASSERT_TRUE(scene_.next<BatchFailed>().has_value());
  EXPECT_EQ(silent_.given_up, 1u);
}

TEST_F(FetchTest, WhatIsRememberedOfARequestGoesWithItsObjects) {
  scene_.act(ReleaseObjects{.invoker = InvokerId(0), .request = RequestId(50)});
  EXPECT_EQ(silent_.forgotten, std::vector{RequestId(50)});
}

}  // namespace
}  // namespace sluice::invoker_test
