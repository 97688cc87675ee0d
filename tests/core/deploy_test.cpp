// Applications come, change and go.
#include <gtest/gtest.h>

#include "core/scene.h"

namespace sluice::core {
namespace {

TEST(Deploy, ARemovedApplicationFinishesWhatItBeganAndRefusesMore) {
  Scene scene({stage("a"), stage("b", {0})});
  (void)scene.invoker(0).arrive(1).decide();
  (void)scene.see(ApplicationRemoved{ApplicationId(0)}).arrive(2).decide();
  EXPECT_EQ(scene.last_reject().request, RequestId(2));
  EXPECT_EQ(scene.last_reject().reason, RejectReason::not_deployed);
  EXPECT_EQ(scene.finish().decide(), Starts{"b of 1"});
  (void)scene.finish().decide();
  EXPECT_EQ(scene.replies().back(), "1 finished");
}

TEST(Deploy, AnUnknownApplicationIsRefused) {
  Scene scene({stage("a")});
  scene.see(RequestAnnounced{ApplicationId(9), Time::from_ns(5)}).see(ApplicationRemoved{ApplicationId(9)});
  (void)scene.to(9).arrive(1).decide();
  EXPECT_EQ(scene.last_reject().reason, RejectReason::not_deployed);
  (void)scene.see(RequestArrived{.id = RequestId(2)}).decide();  // of none
  EXPECT_EQ(scene.last_reject().request, RequestId(2));
}

TEST(Deploy, AChangedProfileChangesPlansButNotQueues) {
  Scene scene({stage("a")}, "admission");
  (void)scene.invoker(0, 1).within(100).arrive(1).arrive(2).decide();
  scene.see(ProfileChanged{
      .application = ApplicationId(0), .function = FunctionId(0), .profile = std::make_shared<Profile>(ten_ms(3))});
  (void)scene.decide();
  (void)scene.within(45).arrive(3).decide();
  EXPECT_EQ(scene.replies(), Starts{"3 rejected: needs 50.699 of 45"});  // 20 and 30, with 2.33 times the spread
  EXPECT_EQ(scene.at(10).finish().decide(), Starts{"a of 2"});
}

TEST(Deploy, APromiseIsKeptThoughItsConfigurationLeftTheProfile) {
  Profile large = ten_ms();
  std::erase_if(std::get<ProfileTable>(large).rows, [](const ProfileRow& r) { return r.configuration.batch == 1; });
  Scene scene({stage("a")}, "admission");
  (void)scene.invoker(0, 1).within(100).arrive(1).arrive(2).decide();
  scene.see(ProfileChanged{.application = ApplicationId(0),
                           .function = FunctionId(0),
                           .profile = std::make_shared<Profile>(std::move(large))});
  (void)scene.decide();
  EXPECT_EQ(scene.at(10).finish().decide(), Starts{"a of 2"});
}

// What policies derive from profiles and do not save must follow them, or a loaded scheduler decides differently.
TEST(Deploy, EverySchedulerFollowsAChangedProfile) {
  Profile other = ten_ms();
  std::get<ProfileTable>(other).rows[2].mean_ms = 11;  // now four together take hardly longer than one
  for (const std::string_view name : policy::scheduler_names()) {
    const auto play = [&](bool reload) {
      Scene scene({stage("a")}, std::string(name));
      scene.invoker(0, 1).arrive(1);
      (void)scene.decide();
      scene.see(ProfileChanged{
          .application = ApplicationId(0), .function = FunctionId(0), .profile = std::make_shared<Profile>(other)});
      (void)scene.decide();
      if (reload) scene.reload();
      for (std::uint64_t id = 2; id < 9; ++id) scene.arrive(id);
      (void)scene.at(10).finish().decide();
      return scene.started().empty() ? 0u : scene.started().front().members.size();
    };
    EXPECT_EQ(play(false), play(true)) << name;
  }
}

TEST(Deploy, EverySchedulerGoesOnWithAProfileOfFewerRows) {
  Profile one_row = ten_ms();
  std::get<ProfileTable>(one_row).rows.resize(1);
  Profile batches_pay = ten_ms();
  std::get<ProfileTable>(batches_pay).rows[2].mean_ms = 11;
  for (const std::string_view name : policy::scheduler_names()) {
    Scene scene({stage("a")}, std::string(name));
    for (const Profile& profile : {batches_pay, one_row}) {
      scene.see(ProfileChanged{
          .application = ApplicationId(0), .function = FunctionId(0), .profile = std::make_shared<Profile>(profile)});
      (void)scene.decide();
      for (std::uint64_t id = 0; id < 8; ++id) scene.arrive(id);  // known ones the second time
      (void)scene.decide();
      scene.invoker(0, 1);
    }
    EXPECT_FALSE(scene.at(1).decide().empty() && scene.started().empty()) << name;
  }
}

TEST(Deploy, AProfileOfSomethingUnknownIsIgnored) {
  Scene scene({stage("a")});
  const auto profile = std::make_shared<Profile>(ten_ms(3));
  scene.see(ProfileChanged{.application = ApplicationId(7), .function = FunctionId(0), .profile = profile});
  scene.see(ProfileChanged{.application = ApplicationId(0), .function = FunctionId(9), .profile = profile});
  EXPECT_EQ(scene.invoker(0).arrive(1).decide(), Starts{"a of 1"});
}

// Scene::reload() loads into a scheduler that was told nothing.
TEST(Deploy, ASaveCarriesApplicationsAndWhatIsBelievedOfThem) {
  const auto play = [](bool reload) {
    Scene scene({stage("a"), stage("b", {0})}, "admission");
    scene.deploy({stage("c", {}, 1)}).deploy({stage("d")}).invoker(0, 1).invoker(1, 1).within(60);
    scene.see(ApplicationRemoved{ApplicationId(2)});
    scene.see(ProfileChanged{
        .application = ApplicationId(0), .function = FunctionId(0), .profile = std::make_shared<Profile>(ten_ms(2))});
    for (std::uint32_t i = 0; i < 12; ++i) {
      if (reload) scene.reload();
      (void)scene.at(10.5 * i).to(i % 3).arrive(i).decide();
      if (i % 2 == 1 && !scene.started().empty()) scene.finish();
    }
    return std::pair(scene.log(), scene.replies());
  };
  EXPECT_EQ(play(false), play(true));
}

// Deploys, serves and removes an application of `stages`, whose functions have a profile of a hundred rows.
void come_and_go(Scene& scene, std::uint32_t id, std::vector<Stage> stages) {
  const std::size_t count = stages.size();
  ProfileTable table;
  for (int batch = 1; batch <= 100; ++batch)
    table.rows.push_back({.configuration = configuration(batch, 1, 1), .mean_ms = 10.0 * batch, .sd_ms = 0.1});
  const auto application = application_of(std::move(stages));
  for (Function& function : application->functions) {
    function.cpu->runtime = function.gpu->runtime = Runtime::process;
    function.profile = table;
  }
  scene.deploy(application);
  (void)scene.to(id).arrive(1000 + id).decide();
  for (std::size_t i = 0; i < count; ++i) (void)scene.finish().decide();
  (void)scene.see(ApplicationRemoved{ApplicationId(id)}).decide();
}

TEST(Deploy, ARemovedApplicationIsGivenBackWhenItsLastRequestIsOver) {
  Scene scene({stage("a"), stage("b", {0})});
  (void)scene.invoker(0).arrive(1).decide();
  (void)scene.see(ApplicationRemoved{ApplicationId(0)}).decide();
  EXPECT_FALSE(scene.scheduler().is_retired(ApplicationId(0)));
  (void)scene.finish().decide();
  EXPECT_FALSE(scene.scheduler().is_retired(ApplicationId(0)));
  (void)scene.finish().decide();
  EXPECT_TRUE(scene.scheduler().is_retired(ApplicationId(0)));
}

TEST(Deploy, ARemovedApplicationStaysWhileACancelledBatchOfItRuns) {
  Scene scene({stage("a")});
  (void)scene.invoker(0).arrive(1).decide();
  (void)scene.see(RequestCancelled{RequestId(1)}).see(ApplicationRemoved{ApplicationId(0)}).decide();
  EXPECT_FALSE(scene.scheduler().is_retired(ApplicationId(0)));
  (void)scene.finish().decide();
  EXPECT_TRUE(scene.scheduler().is_retired(ApplicationId(0)));
}

TEST(Deploy, RemovedApplicationsLeaveLittleBehind) {
  Scene scene({stage("kept")});
  scene.invoker(0);
  const auto saved_after = [&](std::uint32_t last) {
    for (std::uint32_t id = last - 9; id <= last; ++id) {
      std::vector<Stage> stages{stage("s0")};
      for (std::uint32_t i = 1; i < 20; ++i) stages.push_back(stage(str("s", i), {i - 1}));
      come_and_go(scene, id, std::move(stages));
    }
    return scene.scheduler().save().size();
  };
  const std::size_t first = saved_after(10), second = saved_after(20);
  constexpr std::size_t kFunctionsOfOne = 1'100;  // three of them; with their profiles it would be 18,000
  EXPECT_LT(second - first, 10 * kFunctionsOfOne);
}

TEST(Deploy, AFunctionThatSeveralHaveIsLoadedForWhoeverIsLeft) {
  Scene scene({stage("a")});
  scene.deploy({stage("b")});
  (void)scene.see(ApplicationRemoved{ApplicationId(0)}).decide();
  (void)scene.cold_invoker(0).to(1).arrive(1).decide();
  EXPECT_EQ(scene.last_load().application, ApplicationId(1));
  (void)scene.loaded().decide();
  EXPECT_EQ(scene.started().front().application, ApplicationId(1));
}

// Nothing that was learned of a queue may be believed of the one that has its place.
TEST(Deploy, EverySchedulerTreatsANewApplicationInAnOldPlaceAsNew) {
  Profile batches_pay = ten_ms();
  std::get<ProfileTable>(batches_pay).rows[2].mean_ms = 11;
  const ProfileChanged pay{ApplicationId(2), FunctionId(0), std::make_shared<Profile>(batches_pay)};
  for (const std::string_view name : policy::scheduler_names()) {
    const auto play = [&](bool used, bool reload) {
      Scene scene({stage("kept", {}, 2)}, std::string(name));
      scene.invoker(0, 1).deploy({stage("x", {}, 1)}).to(1);
      for (std::uint32_t i = 0; used && i < 40; ++i) {  // more than there is room for
        (void)scene.at(5.0 * i).arrive(100 + i).decide();
        if (i % 2 == 1 && !scene.started().empty()) scene.finish();
      }
      scene.at(250);
      for (std::uint32_t i = 0; used && i < 40; ++i) scene.see(RequestCancelled{RequestId(100 + i)});
      while (!scene.started().empty()) (void)scene.finish().decide();
      (void)scene.see(ApplicationRemoved{ApplicationId(1)}).decide();
      if (reload) scene.reload();
      scene.deploy({stage("a"), stage("b", {0})}).see(pay).to(2);
      Starts out;
      for (std::uint32_t i = 0; i < 12; ++i) {
        if (reload) scene.reload();
        out.push_back(str("at ", i));
        for (const std::string& start : scene.at(300 + 2.0 * i).arrive(i).decide()) out.push_back(start);
        if (i % 2 == 1 && !scene.started().empty()) scene.finish();
      }
      return out;
    };
    EXPECT_EQ(play(true, false), play(false, false)) << name;
    EXPECT_EQ(play(true, true), play(true, false)) << name;
  }
}

}  // namespace
}  // namespace sluice::core
