// How long a request waits for loads that begin now: function i loads in 100 ms, and each stage runs 10 ms.
#include "policy/load_wait.h"

#include <gtest/gtest.h>

#include "policy/cold_machine.h"

namespace sluice::policy {
namespace {

using tree_builder::parallel;
using tree_builder::parallel_needing;
using tree_builder::series;
using tree_builder::stage;
using tree_builder::tree_of;

constexpr NodeGroup kMachine{.vcpu = 4, .gpus = 1};

class Request {
 public:
  Request(const std::vector<Loadable>& functions, SeriesParallelTree workflow)
      : machine_(kMachine, functions, std::move(workflow)) {}
  explicit Request(const std::vector<Loadable>& functions) : machine_(kMachine, functions) {}

  Request& at(double ms) {
    machine_.at(ms);
    return *this;
  }
  Request& ready(const std::vector<std::uint32_t>& functions) {
    for (const std::uint32_t function : functions) machine_.ready(function);
    return *this;
  }
  Request& loading_until(double ms, std::uint32_t function) {
    machine_.loading_until(ms, function);
    return *this;
  }
  Request& on_host(std::uint32_t function) {
    machine_.on_host(function);
    return *this;
  }
  Request& runs_nothing(std::uint32_t stage) {
    nothing_ = stage;
    return *this;
  }
  // Of the stages from this one on.
  [[nodiscard]] double waits_ms(std::uint32_t from = 0) const {
    Application application;
    application.objective.latency = Duration::s(1);
    const auto model = std::make_shared<const SluiceModel>(machine_.model(), application, std::vector<NodeGroup>{},
                                                           ModelKind{}, SluiceOptions{});
    std::vector<QueueId> stages;
    for (const Queue& queue : machine_.queues())
      stages.push_back(queue.model_stage == nothing_ ? QueueId::none() : queue.id);
    return load_wait_ms(machine_.view(), machine_.queues()[from], *model, stages);
  }

 private:
  ColdMachine machine_;
  std::optional<std::uint32_t> nothing_;
};

const std::vector<Loadable> kTwo(2), kFour(4), kFive(5);

TEST(LoadWait, WhatIsReadyIsNotWaitedFor) {
  EXPECT_EQ(Request(kTwo).ready({0, 1}).waits_ms(), 0);
}

TEST(LoadWait, AllLoadsOfAChainBeginNow) {
  EXPECT_EQ(Request(kTwo).waits_ms(), 100);             // while stage 0 waits and runs, function 1 is loaded
  EXPECT_EQ(Request(kTwo).ready({1}).waits_ms(), 100);  // stage 0 waits
  EXPECT_EQ(Request(kTwo).ready({0}).waits_ms(), 90);   // function 1 loads for 10 ms beside stage 0
  EXPECT_EQ(Request({{}, {.load_ms = 250}}).waits_ms(), 100 + 140);
}

TEST(LoadWait, OnlyStagesFromThisOneOnCount) {
  EXPECT_EQ(Request(kTwo).ready({1}).waits_ms(1), 0);
  EXPECT_EQ(Request(kTwo).ready({0}).waits_ms(1), 100);
}

TEST(LoadWait, ALoadThatIsOnItsWayIsWaitedForUntilItEnds) {
  EXPECT_EQ(Request(kTwo).at(50).ready({1}).loading_until(120, 0).waits_ms(), 70);
  EXPECT_EQ(Request(kTwo).at(150).ready({1}).loading_until(120, 0).waits_ms(), 0);  // late: it may end at any time
}

TEST(LoadWait, ACopyOnTheHostIsRaisedInLessTime) {
  EXPECT_EQ(Request(kTwo).ready({1}).on_host(0).waits_ms(), 20);
}

TEST(LoadWait, AStageThatRunsNothingWaitsForNothing) {
  EXPECT_EQ(Request({{}, {}, {}}).ready({0, 2}).runs_nothing(1).waits_ms(), 0);
  EXPECT_EQ(Request({{}, {}, {}}).ready({0}).runs_nothing(1).waits_ms(), 90);  // and takes no time
}

// Stage 0, then 1 beside 2, then 3.
SeriesParallelTree diamond() {
  return tree_of(series({stage(0), parallel({stage(1), stage(2)}), stage(3)}));
}

TEST(LoadWait, BranchesAreJoinedWhenTheLastOfThemIsOver) {
  EXPECT_EQ(Request(kFour, diamond()).ready({0, 2, 3}).waits_ms(), 90);
  EXPECT_EQ(Request(kFour, diamond()).ready({0, 1, 3}).waits_ms(), 90);
  EXPECT_EQ(Request(kFour, diamond()).ready({0, 3}).waits_ms(), 90);  // both are loaded at once
}

TEST(LoadWait, ALoadBesideALongerBranchDelaysNothing) {
  std::vector<Loadable> functions = kFour;
  functions[1].run_ms = 200;
  EXPECT_EQ(Request(functions, diamond()).ready({0, 1, 3}).waits_ms(), 0);
  functions[1].run_ms = 60;  // stage 2 is over at 110 ms, stage 1 at 70 ms
  EXPECT_EQ(Request(functions, diamond()).ready({0, 1, 3}).waits_ms(), 40);
}

TEST(LoadWait, WhatComesAfterTheBranchesIsLoadedWhileTheyWait) {
  EXPECT_EQ(Request(kFour, diamond()).ready({0, 1}).waits_ms(), 90);
  std::vector<Loadable> functions = kFour;
  functions[3].load_ms = 300;
  EXPECT_EQ(Request(functions, diamond()).ready({0, 1}).waits_ms(), 90 + 190);
}

TEST(LoadWait, InABranchItsSiblingsDoNotCount) {
  EXPECT_EQ(Request(kFour, diamond()).ready({0, 1, 3}).waits_ms(1), 0);
  EXPECT_EQ(Request(kFour, diamond()).ready({0, 1, 3}).waits_ms(2), 100);
  EXPECT_EQ(Request(kFour, diamond()).ready({0, 1, 2}).waits_ms(1), 90);  // what joins them does
}

TEST(LoadWait, AJoinOfOneBranchWaitsForTheFirstThatIsOver) {
  const auto first_of = tree_of(series({stage(0), parallel_needing(1, {stage(1), stage(2)}), stage(3)}));
  EXPECT_EQ(Request(kFour, first_of).ready({0, 1, 3}).waits_ms(), 0);
  EXPECT_EQ(Request(kFour, first_of).ready({0, 3}).waits_ms(), 90);
}

TEST(LoadWait, StagesOfABranchFollowEachOther) {
  const auto workflow = tree_of(series({stage(0), parallel({stage(1), series({stage(2), stage(3)})}), stage(4)}));
  EXPECT_EQ(Request(kFive, workflow).ready({0, 1, 2, 4}).waits_ms(), 80);
  EXPECT_EQ(Request(kFive, workflow).ready({0, 1, 2, 4}).waits_ms(2), 90);
}

TEST(LoadWait, AWorkflowMayBeginWithBranches) {
  const auto workflow = tree_of(parallel({stage(0), stage(1)}));
  EXPECT_EQ(Request(kTwo, workflow).ready({0}).waits_ms(0), 0);
  EXPECT_EQ(Request(kTwo, workflow).ready({0}).waits_ms(1), 100);
}

}  // namespace
}  // namespace sluice::policy
