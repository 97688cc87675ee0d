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

// A slice beside which `busy` of the other six always compute, where a batch takes twice as long beside all of them.
class BesideNeighbours : public Scene {
 public:
  explicit BesideNeighbours(std::uint64_t busy)
      : Scene({stage("a")}, [] {
          policy::Policies out = scheduler_named("admission")();
          out.learns = true;
          return out;
        }) {
    auto profile = std::make_shared<Profile>(ten_ms());
    for (ProfileRow& row : std::get<ProfileTable>(*profile).rows) row.busy_mean_ms = 2 * row.mean_ms;
    see(ProfileChanged{.application = ApplicationId(0), .function = FunctionId(0), .profile = profile});
    (void)invoker(0, 16).within(100'000).decide();
    for (std::uint64_t i = 1; i <= busy; ++i) (void)arrive(1'000'000 + i).decide();
    started().clear();
  }
  // One batch after the other, of so long each.
  void run(std::uint64_t batches, double ms) {
    taking(ms);
    for (std::uint64_t i = 1; i <= batches; ++i) {
      now_ms_ += 50;
      ASSERT_EQ(at(now_ms_).arrive(++last_).decide().size(), 1u);
      (void)at(now_ms_ + 45).finish().decide();
    }
  }
  [[nodiscard]] double believed_ms() const { return last_plans().workflow->stages[0].candidates[0].ms; }

 private:
  std::uint64_t last_ = 0;
  double now_ms_ = 0;
};

TEST(Learn, PlansBelieveTimesBesideAsManyNeighboursAsThereUsuallyAre) {
  BesideNeighbours six(6), three(3);
  six.run(80, 20);
  EXPECT_NEAR(six.believed_ms(), 20, 0.1);
  three.run(80, 15);
  EXPECT_NEAR(three.believed_ms(), 15, 0.1);
}

// The profile is right: what changes is who is beside, and that is forgotten as soon as they are gone.
TEST(Learn, NeighboursAreNoErrorOfTheProfile) {
  BesideNeighbours scene(6);
  scene.run(80, 20);
  const auto* table = std::get_if<ProfileTable>(&scene.scheduler().believed(ApplicationId(0))->functions[0].profile);
  ASSERT_NE(table, nullptr);
  EXPECT_NEAR(table->rows[0].mean_ms, 10, 0.1);
  EXPECT_NEAR(table->rows[0].busy_mean_ms.value_or(0), 20, 0.1);
}

TEST(Learn, NeighboursAreSavedWithTheRest) {
  BesideNeighbours scene(6);
  scene.run(40, 20);
  scene.reload();
  scene.run(40, 20);
  EXPECT_NEAR(scene.believed_ms(), 20, 0.1);
}

}  // namespace
}  // namespace sluice::core
