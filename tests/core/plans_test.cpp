// What is believed of an application changes when plans of it are made, by somebody else, and not before.
#include "core/plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "core/beliefs.h"
#include "core/scene.h"
#include "policy/frontiers.h"
#include "policy/sluice_tables.h"

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

// What the scheduler derives from the plans of an application before it is deployed.
struct DerivedAhead {
  std::size_t all = 0;
  std::size_t tables = 0;     // of `sluice`
  std::size_t frontiers = 0;  // found by a policy that asks for those of the workflow
};
DerivedAhead derived_for(std::string_view scheduler, const std::vector<Stage>& stages,
                         const policy::Parameters& parameters = {}) {
  const auto application = application_of(stages);
  const auto plans = make_plans(*application, {}, policy::derives_of(scheduler, parameters, {}));
  DerivedAhead out{.all = plans->derived.size()};
  for (const auto& one : plans->derived)
    out.tables += dynamic_cast<const policy::SluiceTables*>(one.get()) != nullptr ? 1 : 0;
  const policy::ApplicationModel model{
      .id = ApplicationId(0), .application = application, .model = plans->workflow, .derived = plans->derived};
  const policy::FreeIndex by_free;
  const Transfer transfer;
  policy::Frontiers frontiers;
  (void)frontiers.of(policy::View{.by_free = by_free, .applications = std::span(&model, 1), .transfer = transfer},
                     ApplicationId(0));
  out.frontiers = frontiers.made_here() == 0 ? 1 : 0;
  return out;
}

// Frontiers are made for every batch cap, which takes long. `sluice` has tables instead, others ask for nothing.
TEST(Plans, FrontiersAreMadeOnlyForSchedulersThatAskThem) {
  for (const std::string_view name : policy::scheduler_names()) {
    const bool asks = name == "frontier" || name == "best-fit" || name == "admission" || name == "thesis-random";
    const DerivedAhead derived = derived_for(name, {stage("a"), stage("b", {0}, 1)});
    EXPECT_EQ(derived.frontiers, asks ? 1u : 0u) << name;
    EXPECT_EQ(derived.tables, name == "sluice" ? 1u : 0u) << name;
    EXPECT_EQ(derived.all, derived.frontiers + derived.tables) << name;
  }
}

TEST(Plans, SluiceHasOneTableForEachModelAndFrontiersOnlyToPromiseTimes) {
  const DerivedAhead one = derived_for("sluice", with_handlers());  // a and b are planned together, sorry alone
  EXPECT_EQ(one.tables, 2u);
  EXPECT_EQ(one.all, 2u);
  const DerivedAhead promising = derived_for("sluice", {stage("a")}, {{"slo", 1}});
  EXPECT_EQ(promising.tables, 1u);
  EXPECT_EQ(promising.frontiers, 1u);
  EXPECT_EQ(promising.all, 2u);
}

// For requests that have as much time as their application asks for: everybody would wait while a scheduler makes
// something itself.
TEST(Plans, WhatASchedulerAsksForWasMadeAhead) {
  for (const std::string_view name : policy::scheduler_names()) {
    if (name == "aquatope") continue;  // finds its presets elsewhere
    SCOPED_TRACE(name);
    Scene scene({stage("a")}, std::string(name));
    const NodeGroup machine{.vcpu = 4, .gpus = 1};
    const auto application = application_of(with_handlers());
    scene.deploy(application, make_plans(*application, {}, policy::derives_of(name, {}, {machine})));
    scene.see(InvokerJoined{.id = InvokerId(0), .epoch = 1, .capacity = machine, .warm = true});
    const std::uint64_t before = scene.scheduler().planned_here();
    EXPECT_EQ(scene.to(1).arrive(1).decide(), Starts{"a of 1"});
    EXPECT_EQ(scene.at(20).finish().decide(), Starts{"b of 1"});
    EXPECT_EQ(scene.at(40).finish("Broken").decide(), Starts{"sorry of 1"});
    EXPECT_EQ(scene.scheduler().planned_here(), before);
  }
}

}  // namespace
}  // namespace sluice::core
