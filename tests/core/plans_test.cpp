// What is believed of an application changes when plans of it are made, by somebody else, and not before.
#include "core/plans.h"

#include <gtest/gtest.h>

#include "core/beliefs.h"
#include "core/scene.h"

namespace sluice::core {
namespace {

ProfileChanged slower(double factor, std::uint32_t application = 0) {
  return {.application = ApplicationId(application),
          .function = FunctionId(0),
          .profile = std::make_shared<Profile>(ten_ms(factor))};
}

PlansMade made(std::uint64_t revision, std::uint32_t application = 0) {
  return {.application = ApplicationId(application), .revision = revision};
}

// What one invocation of the first function is believed to take by planners.
double believed_ms(Scene& scene, std::uint32_t application = 0) {
  const auto& profile = scene.scheduler().believed(ApplicationId(application))->functions.front().profile;
  return std::get<ProfileTable>(profile).rows.front().mean_ms;
}

TEST(Plans, AnotherBeliefHoldsFromWhenItsPlansAreMade) {
  Scene scene({stage("a")});
  (void)scene.invoker(0).planning_takes_long().see(slower(2)).decide();
  EXPECT_EQ(scene.said(), Starts{"plan 0 as of 1"});
  EXPECT_EQ(believed_ms(scene), 10);
  (void)scene.at(1).arrive(1).decide();
  EXPECT_EQ(scene.started().back().expected, Duration::ms(10));
  EXPECT_EQ(scene.said(), Starts{});  // asked for once
  (void)scene.at(2).plans_made().arrive(2).decide();
  EXPECT_EQ(believed_ms(scene), 20);
  EXPECT_EQ(scene.started().back().expected, Duration::ms(20));
}

TEST(Plans, ChangesInARowAreOnePlanUnderWayAndOneMore) {
  Scene scene({stage("a")});
  (void)scene.planning_takes_long().see(slower(2)).see(slower(3)).decide();
  EXPECT_EQ(scene.said(), Starts{"plan 0 as of 2"});
  for (int factor = 4; factor <= 9; ++factor) {
    (void)scene.at(factor).see(slower(factor)).decide();
    EXPECT_EQ(scene.said(), Starts{});
  }
  (void)scene.plans_made().decide();
  EXPECT_EQ(believed_ms(scene), 30);  // newer than what was believed, and already there
  EXPECT_EQ(scene.said(), Starts{"plan 0 as of 8"});
  (void)scene.plans_made().decide();
  EXPECT_EQ(believed_ms(scene), 90);
  EXPECT_EQ(scene.said(), Starts{});
}

TEST(Plans, PlansThatNobodyWaitsForAreIgnored) {
  Scene scene({stage("a")});
  scene.planning_takes_long().see(made(0)).see(made(1)).see(made(1, 7));
  EXPECT_EQ(believed_ms(scene), 10);
  (void)scene.see(slower(2)).see(made(1)).decide();  // not asked for yet
  EXPECT_EQ(believed_ms(scene), 10);
  (void)scene.plans_made().see(slower(3)).decide();
  EXPECT_EQ(believed_ms(scene), 20);
  scene.see(made(1));  // told twice
  EXPECT_EQ(believed_ms(scene), 20);
  scene.see(made(2));
  EXPECT_EQ(believed_ms(scene), 30);
}

// One that is under way and one that waits for it.
TEST(Plans, BeliefsOnTheirWayAreSaved) {
  Scene scene({stage("a")});
  (void)scene.planning_takes_long().see(slower(2)).decide();
  (void)scene.see(slower(3)).reload().decide();
  EXPECT_EQ(scene.said(), Starts{});
  EXPECT_EQ(believed_ms(scene), 10);
  (void)scene.plans_made().reload().decide();
  EXPECT_EQ(believed_ms(scene), 20);
  EXPECT_EQ(scene.said(), Starts{"plan 0 as of 2"});
  (void)scene.reload().plans_made().reload();
  EXPECT_EQ(believed_ms(scene), 30);
}

// What is learned of conditions while plans of other times are made comes with the plans after those.
TEST(Plans, TimesAndBranchesArePlannedTogether) {
  std::vector<Stage> stages{stage("a"), stage("b", {0}, 1)};
  stages[1].when = Condition{.kind = Condition::Kind::compare};
  Scene scene(std::move(stages), "sluice");
  (void)scene.planning_takes_long().see(slower(2)).decide();
  for (std::uint64_t id = 1; id <= 16; ++id) scene.arrive(id, {{StageId(1), false}});
  (void)scene.decide();
  EXPECT_EQ(scene.said(), Starts{});
  (void)scene.plans_made().decide();
  EXPECT_EQ(believed_ms(scene), 20);
  EXPECT_EQ(scene.said(), Starts{"plan 0 as of 2"});
  scene.plans_made().reload();
  EXPECT_EQ(believed_ms(scene), 20);
}

TEST(Plans, NothingIsPlannedOfWhatIsRetired) {
  Scene scene({stage("a")});
  (void)scene.planning_takes_long().see(slower(2)).decide();
  (void)scene.see(slower(3)).see(ApplicationRemoved{ApplicationId(0)}).decide();
  ASSERT_TRUE(scene.scheduler().is_retired(ApplicationId(0)));
  EXPECT_FALSE(scene.scheduler().work_of({ApplicationId(0), 1}));
  (void)scene.plans_made().decide();
  EXPECT_EQ(scene.said(), Starts{});
  (void)scene.see(slower(4)).reload().decide();
  EXPECT_EQ(scene.said(), Starts{});
}

// Stages that only handle errors have planners of their own.
std::vector<Stage> with_handlers() {
  std::vector<Stage> stages{stage("a"), stage("b", {0}, 1), stage("sorry", {}, 2)};
  stages[1].catches.push_back({.error = "all", .handler = StageId(2)});
  return stages;
}

TEST(Plans, BroughtAlongOrMadeHereTheyAreTheSame) {
  const auto run = [](bool brought) {
    Scene scene(with_handlers(), "sluice");
    const auto other = application_of(with_handlers());
    ApplicationDeployed deployed{ApplicationId(1), other};
    if (brought) deployed.brought.plans = make_plans(*other, {}, policy::derives_of("sluice", {}, {}));
    const std::uint64_t before = scene.scheduler().planned_here();
    scene.see(deployed);
    EXPECT_EQ(scene.scheduler().planned_here() - before, brought ? 0u : 1u);
    scene.invoker(0).planning_takes_long().see(slower(2));
    (void)scene.decide();
    PlansMade event = made(1);
    const auto work = scene.scheduler().work_of({ApplicationId(0), 1});
    EXPECT_TRUE(work);
    if (brought) event.brought.plans = work();
    const std::uint64_t after = scene.scheduler().planned_here();
    scene.at(1).see(event).arrive(1);
    (void)scene.decide();
    // The planners and, for the first stage that is asked about, their tables.
    EXPECT_EQ(scene.scheduler().planned_here() - after, brought ? 0u : 2u);
    (void)scene.at(20).finish().decide();
    (void)scene.at(40).finish("Broken").decide();
    (void)scene.at(60).finish().decide();
    EXPECT_EQ(scene.replies(), Starts{"1 finished"});
    return scene.log() + scene.scheduler().save();
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Plans, OnlyTablesForOtherMachinesAreMadeAgain) {
  Scene scene({stage("a")}, "sluice");
  (void)scene.invoker(0).planning_takes_long().see(slower(2)).decide();
  PlansMade event = made(1);
  event.brought.plans = scene.scheduler().work_of({ApplicationId(0), 1})();
  const std::uint64_t before = scene.scheduler().planned_here();
  (void)scene.at(100).see(event).invoker(1, 9, 3).arrive(1).decide();
  EXPECT_EQ(scene.scheduler().planned_here() - before, 1u);
}

}  // namespace
}  // namespace sluice::core
