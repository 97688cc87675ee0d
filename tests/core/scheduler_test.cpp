// The rules of the core, each in about ten lines.
#include "core/scheduler.h"

#include <gtest/gtest.h>

#include "core/scene.h"

namespace sluice::core {
namespace {

TEST(Scheduler, RunsAChainStageByStageAndAnswersOnce) {
  Scene scene({stage("a"), stage("b", {0})});
  scene.invoker(0).arrive(1);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.at(10).finish().decide(), Starts{"b of 1"});
  EXPECT_EQ(scene.at(20).finish().decide(), Starts{});
  EXPECT_EQ(scene.replies(), Starts{"1 finished"});
  EXPECT_EQ(scene.scheduler().requests_in_system(), 0u);
}

// A worker that crashed once on a fast machine brought this about: stages of 20 us were measured, and moving inputs is
// believed to take 0.5 ms. All requests were given up for as long as there were two of them.
TEST(Scheduler, StagesThatTakeLessTimeThanMovingTheirInputsAreNotGivenUp) {
  auto application = application_of({stage("a"), stage("b", {0})});
  for (Function& f : application->functions) {
    ProfileTable table;
    table.rows.push_back({.configuration = configuration(1, 1, 0), .mean_ms = 0.02});
    f.profile = table;
  }
  Scene scene({stage("a")}, "sluice");
  scene.deploy(application).invoker(0).within(1'000).to(1).arrive(1).arrive(2);
  EXPECT_EQ(scene.decide(), (Starts{"a of 1", "a of 2"}));
  EXPECT_EQ(scene.at(0.1).finish().finish().decide(), (Starts{"b of 1", "b of 2"}));
}

TEST(Scheduler, JoinAllWaitsForEveryPredecessor) {
  Scene scene({stage("a"), stage("b"), stage("c", {0, 1})});
  scene.invoker(0).arrive(1);
  EXPECT_EQ(scene.decide(), (Starts{"a of 1", "b of 1"}));
  EXPECT_EQ(scene.finish().decide(), Starts{});
  EXPECT_EQ(scene.finish().decide(), Starts{"c of 1"});
}

TEST(Scheduler, JoinAnyGoesOnWithTheFirstAndIgnoresTheRest) {
  Stage c = stage("c", {0, 1});
  c.join = {Join::Kind::any, 0};
  Scene scene({stage("a"), stage("b"), c});
  scene.invoker(0).arrive(1);
  (void)scene.decide();
  EXPECT_EQ(scene.finish().decide(), Starts{"c of 1"});
  scene.started().erase(scene.started().begin());  // b goes on
  (void)scene.finish().decide();
  EXPECT_EQ(scene.replies(), Starts{"1 finished"});
}

TEST(Scheduler, ASkippedPredecessorCountsAsFinished) {
  Stage b = stage("b", {0});
  b.when = Condition{.kind = Condition::Kind::compare};
  Scene scene({stage("a"), b, stage("c", {0, 1})});
  scene.invoker(0).arrive(1, {{StageId(1), false}});
  (void)scene.decide();
  EXPECT_EQ(scene.finish().decide(), Starts{"c of 1"});
}

TEST(Scheduler, OtherwiseRunsWhenNoAlternativeHolds) {
  Stage b = stage("b", {0}), c = stage("c", {0});
  b.when = Condition{.kind = Condition::Kind::compare};
  c.when = Condition{.kind = Condition::Kind::otherwise};
  Scene scene({stage("a"), b, c});
  scene.invoker(0).arrive(1, {{StageId(1), false}}).arrive(2, {{StageId(1), true}});
  (void)scene.decide();
  EXPECT_EQ(scene.finish().finish().decide(), (Starts{"b of 2", "c of 1"}));
}

TEST(Scheduler, WhatOnlySkippedStagesLeadToIsSkipped) {
  Stage b = stage("b", {0});
  b.when = Condition{.kind = Condition::Kind::compare};
  Scene scene({stage("a"), b, stage("c", {1})});
  scene.invoker(0).arrive(1, {{StageId(1), false}});
  (void)scene.decide();
  EXPECT_EQ(scene.finish().decide(), Starts{});
  EXPECT_EQ(scene.replies(), Starts{"1 finished"});
}

TEST(Scheduler, ForeachRunsItsItemsWithinTheLimit) {
  Stage b = stage("b", {0});
  b.foreach = Foreach{.over = {StageId(0), "items"}, .limit = 2};
  Scene scene({stage("a"), b, stage("c", {1})});
  scene.invoker(0).arrive(1, {}, {{StageId(1), 3}});
  (void)scene.decide();
  EXPECT_EQ(scene.finish().decide(), (Starts{"b of 1", "b of 1"}));
  EXPECT_EQ(scene.finish().decide(), Starts{"b of 1"});
  EXPECT_EQ(scene.finish().finish().decide(), Starts{"c of 1"});
}

TEST(Scheduler, ForeachRunsAWorkflowForEveryItem) {
  Stage each = stage("each");
  each.kind = Stage::Kind::pass;
  each.function = FunctionId::none();
  Workflow body;
  body.stages = {stage("x"), stage("y", {0})};
  each.foreach = Foreach{.body = {body}};
  Scene scene({each, stage("z", {0})});
  scene.invoker(0).arrive(1, {}, {{StageId(0), 2}});
  EXPECT_EQ(scene.decide().size(), 2u);           // x of both items
  EXPECT_EQ(scene.finish().decide().size(), 1u);  // y of the first
  (void)scene.finish().decide();
  (void)scene.finish().decide();
  EXPECT_EQ(scene.finish().decide(), Starts{"z of 1"});
}

TEST(Scheduler, AWaitDelaysTheStageAndNextWakeSaysUntilWhen) {
  Stage b = stage("b", {0});
  b.wait = Duration::ms(30);
  Scene scene({stage("a"), b});
  scene.invoker(0).arrive(1);
  (void)scene.decide();
  EXPECT_EQ(scene.at(10).finish().decide(), Starts{});
  EXPECT_EQ(scene.scheduler().next_wake(), Time::from_ns(40'000'000));
  EXPECT_EQ(scene.at(40).decide(), Starts{"b of 1"});
}

TEST(Scheduler, RetriesElsewhereWhenAnInvokerIsLost) {
  Scene scene({stage("a")});
  scene.invoker(0).invoker(1).arrive(1);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  const InvokerId first = scene.started().front().invoker;
  EXPECT_EQ(scene.lose(first.value()).decide(), Starts{"a of 1"});
  EXPECT_NE(scene.started().front().invoker, first);
}

TEST(Scheduler, DoesNotRepeatWhatIsNotIdempotent) {
  Stage a = stage("a");
  a.idempotent = false;
  Scene scene({a});
  scene.invoker(0).invoker(1).arrive(1);
  (void)scene.decide();
  (void)scene.lose(scene.started().front().invoker.value()).decide();
  EXPECT_EQ(scene.replies(), Starts{"1 failed InvokerLost"});
}

TEST(Scheduler, RetriesErrorsOfTheFunctionAsTheStageSays) {
  Stage a = stage("a");
  a.retry = Retry{.attempts = 1, .interval = Duration::ms(20), .on = {"Busy"}};
  Scene scene({a});
  scene.invoker(0).arrive(1);
  (void)scene.decide();
  EXPECT_EQ(scene.at(10).finish("Busy").decide(), Starts{});
  EXPECT_EQ(scene.at(30).decide(), Starts{"a of 1"});
  (void)scene.at(40).finish("Busy").decide();
  EXPECT_EQ(scene.replies(), Starts{"1 failed Busy"});
}

TEST(Scheduler, ACaughtErrorGoesOnAtItsHandler) {
  Stage a = stage("a");
  a.catches = {{"all", StageId(2)}};
  Scene scene({a, stage("b", {0}), stage("sorry")});
  scene.invoker(0).arrive(1).arrive(2);
  (void)scene.decide();
  EXPECT_EQ(scene.finish("Odd").finish().decide(), (Starts{"b of 2", "sorry of 1"}));
  (void)scene.finish().finish().decide();
  EXPECT_EQ(scene.replies(), (Starts{"2 finished", "1 finished"}));
}

TEST(Scheduler, ACancelledRequestLeavesTheQueueAndIsAnsweredOnce) {
  Scene scene({stage("a")});
  scene.invoker(0, 1).arrive(1).arrive(2);
  EXPECT_EQ(scene.decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.see(RequestCancelled{RequestId(2)}).see(RequestCancelled{RequestId(1)}).decide(), Starts{});
  (void)scene.finish().decide();
  EXPECT_EQ(scene.replies(), (Starts{"2 cancelled", "1 cancelled"}));
}

TEST(Scheduler, EventsDeliveredTwiceChangeNothing) {
  Scene scene({stage("a"), stage("b", {0})});
  scene.invoker(0).invoker(0).arrive(1);
  (void)scene.decide();
  EXPECT_EQ(scene.finish().finish_again().decide(), Starts{"b of 1"});
  EXPECT_EQ(scene.finish_again().decide(), Starts{});
}

TEST(Scheduler, AFullSystemRejectsWithBothNumbers) {
  Scene scene({stage("a")}, "fifo", {.requests_max = 1});
  scene.invoker(0).arrive(1).arrive(2);
  (void)scene.decide();
  EXPECT_EQ(scene.replies(), Starts{"2 rejected: needs 2 of 1"});
}

TEST(Scheduler, BatchesTheOldestTogetherWhenOnlyThatFits) {
  Scene scene({stage("a")}, "sluice");
  scene.invoker(0, 1).arrive(1).arrive(2).arrive(3);
  const Starts started = scene.decide();
  ASSERT_FALSE(started.empty());
  EXPECT_EQ(started.front(), "a of 1");
  EXPECT_EQ(scene.scheduler().batches_running(), 1u);  // one vCPU
}

TEST(Scheduler, BillsWhatRan) {
  Scene scene({stage("a")});
  scene.invoker(0).arrive(1);
  (void)scene.decide();
  (void)scene.finish().decide();
  EXPECT_EQ(scene.scheduler().counters().billed,
            PicoDollars::from_dollars(Prices{}.per_ms(configuration(1, 1, 1)) * 10));
}

TEST(Scheduler, SavingAndLoadingAtAnyInstantChangesNoCommand) {
  const auto play = [](bool reload) {
    Stage b = stage("b", {0});
    b.foreach = Foreach{.over = {StageId(0), "items"}, .limit = 1};
    Scene scene({stage("a"), b}, "esg");
    scene.invoker(0, 2).invoker(1, 2);
    for (int i = 0; i < 20; ++i) {
      scene.at(5 * i).arrive(static_cast<std::uint64_t>(i), {}, {{StageId(1), 2}});
      if (reload) scene.reload();
      (void)scene.decide();
      if (reload) scene.reload();
      if (i % 2 == 1 && !scene.started().empty()) scene.finish();
    }
    return scene.log();
  };
  EXPECT_EQ(play(false), play(true));
}

TEST(Scheduler, RefusesASaveThatIsCutOff) {
  Scene scene({stage("a")});
  scene.invoker(0).arrive(1);
  const std::string saved = scene.scheduler().save();
  Scene other({stage("a")});
  EXPECT_FALSE(other.scheduler().load(saved.substr(0, saved.size() / 2)).ok());
}

TEST(Scheduler, RefusesASaveOfAnotherFormat) {
  Scene scene({stage("a")});
  std::string saved = scene.scheduler().save();
  const auto refusal = [&](const std::string& bytes) {
    const Status status = Scene({stage("a")}).scheduler().load(bytes);
    return status.ok() ? "" : status.error().message;
  };
  EXPECT_EQ(refusal("something else"), "this is no saved state of a scheduler: it does not begin with 'sluicesave'");
  EXPECT_EQ(refusal("sluicesave"), "this is no saved state of a scheduler: it does not begin with 'sluicesave'");
  saved[10] = 77;
  EXPECT_EQ(refusal(saved), "the saved state has format version 77; this program reads 16");
}

// A wrong policy must crash, not corrupt the books.
class Greedy final : public policy::Dispatch {
 public:
  void begin(const policy::View&) override {}
  bool next(const policy::View& view, policy::Proposals& out) override {
    out.clear();
    out.queue = view.queues[0].id;
    out.ranked.push_back({configuration(4, 1, 1), InvokerId(0), 4});
    return true;
  }
  void decided(const policy::View&, const policy::Proposals&, std::optional<std::size_t>) override {}
  void visit(Archive&) override {}
};

TEST(SchedulerDeathTest, APolicyThatProposesWhatDoesNotWaitIsCaught) {
  Scene scene({stage("a")});
  auto policies = policy::make_scheduler("fifo", {});
  policies->dispatch = std::make_unique<Greedy>();
  Scheduler wrong(std::move(policies).value());
  auto application = std::make_shared<Application>();
  application->functions = {
      {.name = "f", .profile = ProfileTable{{{.configuration = configuration(4, 1, 1), .mean_ms = 1}}}}};
  application->workflow.stages = {stage("a")};
  wrong.observe(ApplicationDeployed{ApplicationId(0), application}, Time::from_ns(0));
  wrong.observe(InvokerJoined{.id = InvokerId(0), .epoch = 1, .capacity = {.vcpu = 4, .gpus = 1}}, Time::from_ns(0));
  wrong.observe(RequestArrived{.id = RequestId(1), .application = ApplicationId(0), .deadline = Time::from_ns(1)},
                Time::from_ns(0));
  Commands commands;
  EXPECT_DEATH(wrong.decide(Time::from_ns(0), commands), "proposal.members");
}

}  // namespace
}  // namespace sluice::core
