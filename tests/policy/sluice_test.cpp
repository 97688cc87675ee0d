#include <gtest/gtest.h>

#include "policy/stand.h"

namespace sluice::policy {
namespace {

// Cheap and slow or dear and fast; two together take little longer than one.
const Rows kStage{{1, 1, 1, 100}, {1, 1, 4, 40}, {2, 1, 1, 130}};

Parameters without(std::initializer_list<const char*> switches) {
  Parameters out;
  for (const char* name : switches) out[name] = 0;
  return out;
}

TEST(Sluice, TakesTheCheapConfigurationWhenThereIsTimeAndTheFastOneWhenThereIsNot) {
  Stand relaxed("sluice", {kStage}, 200);
  EXPECT_EQ(relaxed.invoker(0, 8, 7).arrive(1).decide(), (Starts{"s0 of 1: (1,1,1) on 0"}));
  Stand strict("sluice", {kStage}, 60);
  EXPECT_EQ(strict.invoker(0, 8, 7).arrive(1).decide(), (Starts{"s0 of 1: (1,1,4) on 0"}));
}

TEST(Sluice, SaysWhyAConfigurationWasTaken) {
  Stand stand("sluice", {kStage}, 400);
  stand.invoker(0, 8, 5).arrive(1);
  EXPECT_EQ(stand.decide().size(), 1u);
  EXPECT_EQ(stand.last_start().reason.considered, 2u);  // of three one is for two
  EXPECT_EQ(stand.last_start().reason.no_room, 0u);
  const Rows cheap_and_wide{{1, 1, 1, 100}, {1, 1, 4, 20}};
  Stand narrow("sluice", {cheap_and_wide}, 400);
  EXPECT_EQ(narrow.invoker(0, 8, 5).arrive(1).arrive(2).decide(),
            (Starts{"s0 of 1: (1,1,4) on 0", "s0 of 2: (1,1,1) on 0"}));
  EXPECT_EQ(narrow.last_start().reason.considered, 2u);
  EXPECT_EQ(narrow.last_start().reason.no_room, 1u);
}

TEST(Sluice, SaysHowLongItWaitedForCompany) {
  Stand stand("sluice", {kStage}, 400);
  stand.invoker(0, 8, 7);
  bool paused = false;
  for (int i = 0; i < 40; ++i) {
    stand.at(20.0 * i).arrive(static_cast<std::uint64_t>(i) + 1);
    for (const std::string& start : stand.decide()) {
      const BatchReason& reason = stand.last_start().reason;
      const Time ready = stand.last_start().members.front().ready;
      const bool two = start.find("(2,1,1)") != std::string::npos;
      const Duration company = reason.company_until - std::max(ready, reason.company_from);
      if (i > 20 && two && ready < Time::from_ns(Duration::ms(20.0 * i).count_ns())) {
        EXPECT_EQ(company, Duration::ms(20)) << i;
        paused = true;
      }
    }
    if (i > 8) stand.finish_all();
  }
  EXPECT_TRUE(paused);
}

TEST(Sluice, KeepsTimeBackForNoise) {
  Stand stand("sluice", {kStage}, 102);  // enough on the mean, a miss in a third of all cases
  EXPECT_EQ(stand.invoker(0, 8, 7).arrive(1).decide(), (Starts{"s0 of 1: (1,1,4) on 0"}));
}

TEST(Sluice, BatchesWhatWaitsTogetherIfThatStillMeetsTheDeadline) {
  Stand stand("sluice", {kStage}, 300);
  EXPECT_EQ(stand.invoker(0, 8, 7).arrive(1).arrive(2).decide(), (Starts{"s0 of 1 2: (2,1,1) on 0"}));
}

TEST(Sluice, GivesUpWhatCannotBeMetInsteadOfRunningIt) {
  Stand stand("sluice", {kStage}, 30);
  // The last one is alone and takes nothing from others: it runs, and its times are learned.
  EXPECT_EQ(stand.invoker(0, 8, 7).arrive(1).arrive(2).decide(), Starts{"s0 of 2: (1,1,1) on 0"});
  EXPECT_EQ(stand.scheduler().requests_in_system(), 1u);
  EXPECT_EQ(stand.scheduler().counters().failed, 1u);
  Stand runs("sluice", {kStage}, 30, without({"drop"}));
  EXPECT_EQ(runs.invoker(0, 8, 7).arrive(1).decide().size(), 1u);
}

TEST(Sluice, WaitsForSlicesRatherThanRunningWhatWouldMiss) {
  Stand stand("sluice", {kStage}, 60);
  stand.invoker(0, 8, 4).arrive(1).arrive(2);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,4) on 0"}));  // one slice would do for nobody
  EXPECT_EQ(stand.at(10).finish().decide(), (Starts{"s0 of 2: (1,1,4) on 0"}));
}

TEST(Sluice, StaysWhereTheInputsAreAndBeginsWhereThereIsMostRoom) {
  Stand stand("sluice", {kStage, kStage}, 400);
  stand.invoker(0, 8, 5).invoker(1, 8, 7).arrive(1);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,1) on 1"}));
  stand.arrive(2);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 2: (1,1,1) on 1"}));
  EXPECT_EQ(stand.at(100).finish().decide(), (Starts{"s1 of 1: (1,1,1) on 1"}));
}

// Calls every 20 ms and much time: two together are cheaper than one after the other.
TEST(Sluice, WaitsForCompanyWhenThatPaysAndSaysUntilWhen) {
  Stand stand("sluice", {kStage}, 400);
  stand.invoker(0, 8, 7);
  std::uint64_t id = 0;
  std::size_t together = 0;
  for (int i = 0; i < 40; ++i) {
    stand.at(20.0 * i).arrive(++id);
    for (const std::string& start : stand.decide()) together += start.find("(2,1,1)") != std::string::npos ? 1 : 0;
    if (i > 8) stand.finish_all();
  }
  EXPECT_GT(together, 8u);
  Stand never("sluice", {kStage}, 400, without({"wait"}));
  never.invoker(0, 8, 7);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(never.at(20.0 * i).arrive(static_cast<std::uint64_t>(i) + 1).decide().size(), 1u) << i;
    never.finish_all();
  }
}

// One client that asks again 10 ms after it was answered. Its calls have a rate, but nobody else comes while it waits.
TEST(Sluice, DoesNotWaitForCompanyThatNeverComes) {
  Stand stand("sluice", {kStage}, 2'000);
  stand.invoker(0, 8, 7);
  double now = 0;
  std::vector<double> waited;
  for (std::uint64_t id = 1; id <= 30; ++id) {
    stand.at(now += 10).arrive(id);
    const double asked = now;
    while (stand.decide().empty()) {
      const auto wake = stand.scheduler().next_wake();
      ASSERT_TRUE(wake.has_value());
      stand.at(now = static_cast<double>(wake->count_ns()) / 1e6);
    }
    waited.push_back(now - asked);
    stand.at(now += 40).finish_all();
    (void)stand.decide();
  }
  EXPECT_EQ(*std::max_element(waited.begin(), waited.end()), 0);
}

// Two together, again and again: while one is unanswered another comes, while two are nobody does.
TEST(Sluice, WaitsOnlyAsLongAsCompanyHasBeenSeenToTake) {
  Stand stand("sluice", {kStage}, 4'000);
  stand.invoker(0, 8, 7);
  double now = 0;
  for (std::uint64_t id = 1; id <= 40; id += 2) {
    (void)stand.at(now += 2'000).arrive(id).decide();
    (void)stand.at(now += 50).arrive(id + 1).decide();
    stand.at(now += 200).finish_all();
    (void)stand.decide();
  }
  const double asked = now += 2'000;
  Starts started = stand.at(now).arrive(100).decide();
  while (started.empty()) {
    const auto wake = stand.scheduler().next_wake();
    ASSERT_TRUE(wake.has_value());
    started = stand.at(now = static_cast<double>(wake->count_ns()) / 1e6).decide();
  }
  EXPECT_GT(now - asked, 50);   // the gap that was seen
  EXPECT_LT(now - asked, 300);  // not the 3.9 seconds that there would be time for
}

// Company has been seen to come after 400 ms; a call alone takes 100.
TEST(Sluice, WaitsNoLongerThanACallTakesUnlessCostIsPreferred) {
  const auto waits_ms = [](Prefer prefer) {
    Application application = Stand::with_objective(chain_of({kStage}), 4'000);
    application.objective.prefer = prefer;
    Stand stand("sluice", application);
    stand.invoker(0, 8, 7);
    double now = 0;
    Starts started;
    const auto until_started = [&] {
      while (started.empty()) {
        const auto wake = stand.scheduler().next_wake();
        if (!wake) return;
        started = stand.at(now = static_cast<double>(wake->count_ns()) / 1e6).decide();
      }
    };
    for (std::uint64_t id = 1; id <= 40; id += 2) {
      (void)stand.at(now += 2'000).arrive(id).decide();
      (void)stand.at(now += 400).arrive(id + 1).decide();
      stand.at(now += 200).finish_all();
      (void)stand.decide();
      stand.at(now += 200).finish_all();
      (void)stand.decide();
    }
    const double asked = now += 2'000;
    started = stand.at(now).arrive(100).decide();
    until_started();
    return now - asked;
  };
  EXPECT_EQ(waits_ms(Prefer::latency), 0);
  EXPECT_GT(waits_ms(Prefer::balance), 50);
  EXPECT_LE(waits_ms(Prefer::balance), 101);
  EXPECT_GT(waits_ms(Prefer::cost), 400);
}

// One caller with an hour's time gets the cheap plan that it has time for, and makes nobody else's plans coarse.
TEST(Sluice, ACallersOwnObjectiveChangesItsOwnRequestAlone) {
  Stand stand("sluice", {kStage}, 60);
  stand.invoker(0, 8, 7).arrive(1, Duration::s(3'600), 0);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,1) on 0"}));
  EXPECT_EQ(stand.at(100).finish(100).arrive(2).decide(), (Starts{"s0 of 2: (1,1,4) on 0"}));
}

TEST(Sluice, SomewhatMoreTimeIsPlannedWithToo) {
  Stand stand("sluice", {kStage, kStage}, 90);
  stand.invoker(0, 8, 7).arrive(1, Duration::ms(160), 0);  // one of two can be the slow one
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,4) on 0"}));
  EXPECT_EQ(stand.at(40).finish(40).decide(), (Starts{"s1 of 1: (1,1,1) on 0"}));
}

// Two of them together would take 130 ms.
TEST(Sluice, WhoHasLessTimeIsNotHeldUpByWhoHasMore) {
  Stand stand("sluice", {kStage}, 60);
  stand.invoker(0, 8, 7).arrive(1, Duration::s(3'600), 0).arrive(2);
  EXPECT_EQ(stand.decide(), (Starts{"s0 of 1: (1,1,1) on 0", "s0 of 2: (1,1,4) on 0"}));
}

TEST(Sluice, GivesUpWhatIsLateByTwiceItsOwnObjective) {
  Application app = Stand::with_objective(chain_of({Rows{{1, 1, 1, 100}}}), 150);
  app.objective.percentile = 50;
  Stand stand("sluice", app, without({"learn", "shed"}));
  stand.invoker(0, 8, 1);
  std::uint64_t id = 0;
  for (int i = 0; i < 100; ++i) {  // all in time, so that being late becomes cheap
    EXPECT_EQ(stand.at(1'000.0 * i).arrive(++id).decide().size(), 1u);
    (void)stand.at(1'000.0 * i + 100).finish(100).decide();
  }
  constexpr double kStart = 200'000;
  (void)stand.at(kStart).arrive(++id).decide();  // runs, and does not end
  (void)stand.arrive(++id, Duration::ms(400), 0).decide();
  (void)stand.at(kStart + 1'190).decide();
  EXPECT_EQ(stand.scheduler().requests_in_system(), 2u);
  (void)stand.at(kStart + 1'201).decide();
  EXPECT_EQ(stand.scheduler().requests_in_system(), 1u);
  EXPECT_EQ(stand.scheduler().counters().failed, 1u);
}

TEST(Sluice, WhatIsDearIsNotHopeless) {
  Application dear = Stand::with_objective(chain_of({kStage}), 200);
  dear.prices = {.vcpu_hour = 34, .vgpu_hour = 670};  // a request costs two cents
  Stand stand("sluice", dear);
  EXPECT_EQ(stand.invoker(0, 8, 7).arrive(1).arrive(2).decide().size(), 1u);
  EXPECT_EQ(stand.scheduler().counters().failed, 0u);
}

TEST(Sluice, KeepsToTheCostThatIsAskedFor) {
  Application limited = Stand::with_objective(chain_of({kStage}), 60);
  limited.objective.cost = 25e-6;  // of four slices a request would cost 30 millionths
  EXPECT_EQ(Stand("sluice", limited).invoker(0, 8, 7).arrive(1).decide(), (Starts{"s0 of 1: (1,1,1) on 0"}));
  limited.objective.cost = 1e-6;
  Stand refuses("sluice", limited);
  (void)refuses.invoker(0, 8, 7).arrive(1).decide();
  EXPECT_EQ(refuses.last_reject().reason, RejectReason::cost_exceeded);
  EXPECT_GT(refuses.last_reject().needed, refuses.last_reject().available);
}

// Four slices in both stages would cost 60 millionths, in one of them 50.
TEST(Sluice, KeepsTheWholeRequestToTheCostThatIsAskedFor) {
  Application limited = Stand::with_objective(chain_of({kStage, kStage}), 100);
  limited.objective.cost = 52e-6;
  Stand stand("sluice", limited);
  EXPECT_EQ(stand.invoker(0, 8, 7).arrive(1).decide(), (Starts{"s0 of 1: (1,1,4) on 0"}));
  EXPECT_EQ(stand.at(40).finish(40).decide(), (Starts{"s1 of 1: (1,1,1) on 0"}));
  limited.objective.cost = 65e-6;
  Stand enough("sluice", limited);
  (void)enough.invoker(0, 8, 7).arrive(1).decide();
  EXPECT_EQ(enough.at(40).finish(40).decide(), (Starts{"s1 of 1: (1,1,4) on 0"}));
}

// The first stage spent all; four vCPUs would be the cheapest way on, and are more than the tenant may ever take.
TEST(Sluice, DoesNotWaitForTheCheapestWayWhereThatCanNeverRun) {
  Application limited =
      Stand::with_objective(chain_of({Rows{{1, 1, 1, 100}}, Rows{{1, 4, 0, 100}, {1, 1, 1, 100}}}), 1'000);
  limited.objective.cost = 60e-6;
  Stand stand("sluice", limited);
  EXPECT_EQ(stand.quota(2, {}).invoker(0, 8, 7).arrive(1).decide(), (Starts{"s0 of 1: (1,1,1) on 0"}));
  EXPECT_EQ(stand.at(400).finish(400).decide(), (Starts{"s1 of 1: (1,1,1) on 0"}));
}

// The second stage takes four times as much as the first, but only one request in 16 has it.
TEST(Sluice, LetsMoreInOnceItKnowsThatADearBranchIsRare) {
  Application app = Stand::with_objective(chain_of({Rows{{1, 1, 1, 100}}, Rows{{1, 1, 4, 100}}}), 400);
  app.workflow.stages[1].when = Condition{};
  const auto accepted = [&](double learn) {
    Stand stand("sluice", app, {{"learn", learn}});
    stand.invoker(0, 64, 20);
    std::uint64_t id = 0;
    for (int i = 0; i < 64; ++i) {
      (void)stand.at(1'000.0 * i).arrive_branching(++id, i % 16 == 0).decide();
      (void)stand.at(1'000.0 * i + 100).finish_all(100).decide();
      (void)stand.at(1'000.0 * i + 200).finish_all(100).decide();
      if (i == 40) stand.reload();
    }
    const std::uint64_t before = stand.scheduler().counters().accepted;
    stand.at(100'000);
    for (int i = 0; i < 100; ++i) stand.arrive_branching(++id, false);
    (void)stand.decide();
    return stand.scheduler().counters().accepted - before;
  };
  EXPECT_GT(accepted(1), accepted(0) * 3 / 2);
}

TEST(Sluice, RefusesTheLessImportantFirst) {
  const auto accepted = [](std::uint8_t priority) {
    Stand stand("sluice", {kStage}, 110);
    stand.invoker(0, 32, 20);
    for (std::uint64_t i = 1; i <= 40; ++i) stand.arrive(i, Duration::ms(110), priority);
    (void)stand.decide();
    return stand.scheduler().counters().accepted;
  };
  EXPECT_GT(accepted(1), accepted(0));
  EXPECT_GT(accepted(0), accepted(3));
  EXPECT_GT(accepted(3), 0u);
}

TEST(Sluice, RefusesWhatTheClusterCannotDoInTime) {
  Stand stand("sluice", {kStage}, 110);
  stand.invoker(0, 8, 2);
  for (std::uint64_t i = 1; i <= 10; ++i) stand.arrive(i);
  (void)stand.decide();
  EXPECT_GT(stand.scheduler().counters().rejected, 4u);
  Stand open("sluice", {kStage}, 110, without({"shed"}));
  open.invoker(0, 8, 2);
  for (std::uint64_t i = 1; i <= 10; ++i) open.arrive(i);
  (void)open.decide();
  EXPECT_EQ(open.scheduler().counters().rejected, 0u);
}

TEST(Sluice, RefusesWhatTheVcpusCannotDoInTimeWhereNothingRunsOnSlices) {
  Stand stand("sluice", {Rows{{1, 1, 0, 100}}}, 110);
  stand.invoker(0, 2, 7);
  for (std::uint64_t i = 1; i <= 10; ++i) stand.arrive(i);
  (void)stand.decide();
  EXPECT_GT(stand.scheduler().counters().rejected, 4u);
}

TEST(Sluice, SaysThatTheMachinesAreFullNowAndWhenToTryAgain) {
  Stand stand("sluice", {kStage}, 110);
  stand.invoker(0, 8, 2);
  for (std::uint64_t i = 1; i <= 10; ++i) stand.arrive(i);
  (void)stand.decide();
  const Reject& reject = stand.last_reject();
  EXPECT_EQ(reject.reason, RejectReason::overloaded);
  EXPECT_GT(reject.needed, reject.available);
  ASSERT_TRUE(reject.retry_after.has_value());  // the work that is too much, on as many slices as there are
  EXPECT_NEAR(reject.retry_after->to_ms() * reject.available, (reject.needed - reject.available) * 110, 1e-3);
}

TEST(Sluice, SaysThatNothingHasCapacityWhereNoMachineIsLeft) {
  Stand stand("sluice", {kStage}, 110);
  (void)stand.arrive(1).arrive(2).decide();
  EXPECT_EQ(stand.last_reject().reason, RejectReason::no_capacity);
  EXPECT_EQ(stand.last_reject().retry_after, std::nullopt);
}

TEST(Sluice, GoesOnAfterAReloadAsIfNothingHadHappened) {
  Stand a("sluice", {kStage, kStage}, 500), b("sluice", {kStage, kStage}, 500);
  for (Stand* stand : {&a, &b}) stand->invoker(0, 8, 7).invoker(1, 8, 3);
  for (int i = 0; i < 30; ++i) {
    for (Stand* stand : {&a, &b}) stand->at(15.0 * i).arrive(static_cast<std::uint64_t>(i) + 1);
    if (i % 3 == 0) b.reload();
    ASSERT_EQ(a.decide(), b.decide()) << i;
    if (i % 2 == 1) {
      a.finish_all();
      b.finish_all();
    }
  }
}

}  // namespace
}  // namespace sluice::policy
