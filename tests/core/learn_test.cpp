// What executions teach.
#include <gtest/gtest.h>

#include "core/scene.h"

namespace sluice::core {
namespace {

// After 40 invocations took so long.
struct After {
  std::string refusal;    // which tells what one is believed to take
  std::size_t plans = 0;  // that were made of what was learned
};
After after(double profile_factor, double took_ms) {
  Scene scene({stage("a")}, [] {
    policy::Policies out = scheduler_named("admission")();
    out.learns = true;
    return out;
  });
  auto profile = std::make_shared<Profile>(ten_ms(profile_factor));
  for (ProfileRow& row : std::get<ProfileTable>(*profile).rows) row.sd_ms *= profile_factor;
  scene.see(ProfileChanged{.application = ApplicationId(0), .function = FunctionId(0), .profile = profile});
  (void)scene.invoker(0).taking(took_ms).within(1'000).decide();
  const std::size_t before = scene.plans_count();
  for (std::uint64_t i = 1; i <= 40; ++i) {
    scene.at(20.0 * static_cast<double>(i)).arrive(i);
    if (scene.decide().empty()) return {"nothing starts", 0};
    (void)scene.at(20.0 * static_cast<double>(i) + took_ms).finish().decide();
  }
  (void)scene.at(2'000).within(0).arrive(99).decide();
  return {scene.replies().back(), scene.plans_count() - before};
}

TEST(Learn, WhatTakesLongerThanItsProfileSaysIsBelievedToTakeLonger) {
  EXPECT_EQ(after(1, 10).refusal, "99 rejected: needs 10.233 of 0");
  EXPECT_EQ(after(1, 15).refusal, "99 rejected: needs 15.3495 of 0");  // with 2.33 times its spread
}

// Twice as long, of nothing: making plans again for that costs more than all that could be won.
TEST(Learn, WhatDiffersByMicrosecondsChangesNoPlan) {
  EXPECT_EQ(after(1e-4, 0.002).plans, 0u);
  EXPECT_GT(after(1e-4, 0.5).plans, 0u);
}

// Nobody waits so long for them, and they end with their workers.
TEST(Learn, WhatNeverEndsInTimeIsBelievedToTakeAsLongAsItWasWaitedFor) {
  Scene scene({stage("a")}, [] {
    policy::Policies out = scheduler_named("admission")();
    out.learns = true;
    return out;
  });
  scene.invoker(0).within(1'000);
  for (std::uint64_t i = 1; i <= 40; ++i) {
    const double at = 100.0 * static_cast<double>(i);
    ASSERT_EQ(scene.at(at).arrive(i).decide().size(), 1u);
    (void)scene.at(at + 30).see(RequestCancelled{RequestId(i)}).crash().decide();
  }
  (void)scene.at(9'000).within(0).arrive(99).decide();
  EXPECT_EQ(scene.replies().back(), "99 rejected: needs 64.95 of 0");  // 30, and a spread of half of it and more
}

// Every 20th takes four times as long: the plan says so, and what the others take stays as it was.
TEST(Learn, StragglersArePlannedWith) {
  Scene scene({stage("a")}, [] {
    policy::Policies out = scheduler_named("admission")();
    out.learns = true;
    return out;
  });
  scene.invoker(0).within(1'000);
  for (std::uint64_t i = 1; i <= 640; ++i) {
    const double at = 50.0 * static_cast<double>(i);
    scene.taking(i % 20 == 0 ? 40 : 10).at(at).arrive(i);
    if (scene.decide().empty()) FAIL() << "nothing starts";
    (void)scene.at(at + 45).finish().decide();
  }
  const plan::ModelStage& stage = scene.last_plans().workflow->stages[0];
  EXPECT_NEAR(stage.stragglers.share, 0.05, 0.0125) << "plans are made anew for more than a quarter";
  EXPECT_NEAR(stage.stragglers.times, 4, 0.01);
  EXPECT_NEAR(stage.candidates[0].ms, 10, 0.1);
}

}  // namespace
}  // namespace sluice::core
