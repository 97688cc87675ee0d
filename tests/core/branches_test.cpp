// How often conditions hold and how many items fan-outs have, learned from what is told.
#include "core/branches.h"

#include <gtest/gtest.h>

namespace sluice::core {
namespace {

Condition otherwise() {
  return {.kind = Condition::Kind::otherwise};
}

// first → (a if …, b if …, c otherwise), each item of the first → (x if …)
Application forking() {
  Application out{.name = "forking"};
  const auto add = [&](const char* name, std::optional<Condition> when) {
    Stage stage{.name = name, .kind = Stage::Kind::pass, .when = std::move(when)};
    if (!out.workflow.stages.empty()) stage.after = {StageId(0)};
    out.workflow.stages.push_back(std::move(stage));
  };
  add("first", std::nullopt);
  add("a", Condition{});
  add("b", Condition{});
  add("c", otherwise());
  add("each", std::nullopt);
  const Workflow body{{Stage{.name = "x", .kind = Stage::Kind::pass, .when = Condition{}}}};
  out.workflow.stages[4].foreach = Foreach{.over = {StageId(0), "items"}, .limit = 0, .body = {body}};
  return out;
}

constexpr StageId kA(1), kB(2), kEach(4);

TEST(Branches, BelieveNothingBeforeEnoughWasSeen) {
  const Application app = forking();
  Branches branches;
  const std::vector<Verdict> told = {{kA, true}};
  for (int i = 0; i < 15; ++i) EXPECT_FALSE(branches.note(app, told, {}));
  EXPECT_TRUE(branches.assumptions().shares.empty());
  EXPECT_TRUE(branches.note(app, told, {}));
  EXPECT_EQ(branches.assumptions().shares.at("a"), 1);
}

TEST(Branches, KnowTheSharesOfAllAlternatives) {
  const Application app = forking();
  Branches branches;
  for (int i = 0; i < 160; ++i) {
    const std::vector<Verdict> told = {{kA, i % 4 == 0}, {kB, i % 4 == 1}};
    (void)branches.note(app, told, {});
  }
  const auto shares = branches.assumptions().shares;
  EXPECT_NEAR(shares.at("a"), 0.25, 0.1);
  EXPECT_NEAR(shares.at("b"), 0.25, 0.1);
  EXPECT_NEAR(shares.at("c"), 0.5, 0.1);  // neither
}

TEST(Branches, BelieveWhatAnEarlierSchedulerDidUntilRequestsTeachOtherwise) {
  const Application app = forking();
  Branches branches;
  branches.assume(app, {ApplicationId(0), {{"a", 0.75}, {"each/x", 0.5}, {"gone", 1}}, {{"each", 9}, {"first/x", 2}}});
  using Shares = std::map<std::string, double>;
  EXPECT_EQ(branches.assumptions().shares, (Shares{{"a", 0.75}, {"each/x", 0.5}})) << "others are not there any more";
  EXPECT_EQ(branches.assumptions().items, (std::map<std::string, std::uint32_t>{{"each", 9}}));
  const std::vector<Verdict> told = {{kA, false}};
  for (int i = 0; i < 160; ++i) (void)branches.note(app, told, {});
  EXPECT_LT(branches.assumptions().shares.at("a"), 0.2);
}

TEST(Branches, AreTheSameForPlannersUntilTheyAreAnotherByEnough) {
  const Application app = forking();
  Branches branches;
  int changes = 0;
  for (int i = 0; i < 1'600; ++i) {
    const std::vector<Verdict> told = {{kA, i % 4 == 0}};
    changes += branches.note(app, told, {}) ? 1 : 0;
  }
  EXPECT_EQ(changes, 1);
  for (int i = 0; i < 320; ++i) {
    const std::vector<Verdict> told = {{kA, true}};
    changes += branches.note(app, told, {}) ? 1 : 0;
  }
  EXPECT_GT(changes, 1);
  EXPECT_GT(branches.assumptions().shares.at("a"), 0.85);
}

TEST(Branches, CountItemsAndLookInside) {
  const Application app = forking();
  Branches branches;
  for (int i = 0; i < 32; ++i) {
    const std::vector<FanOut> items = {{kEach, 12}};
    const std::vector<Verdict> inside = {{StageId(0), true, {{kEach, 0}}}, {StageId(0), false, {{kEach, 1}}}};
    (void)branches.note(app, inside, items);
  }
  EXPECT_EQ(branches.assumptions().items.at("each"), 12u);
  EXPECT_NEAR(branches.assumptions().shares.at("each/x"), 0.5, 0.1);
}

TEST(Branches, TakeNothingFromWhatDoesNotExist) {
  const Application app = forking();
  Branches branches;
  const std::vector<Verdict> strange = {{StageId(99), true}, {kA, true, {{kA, 0}}}, {kA, true, {{StageId(77), 3}}}};
  const std::vector<FanOut> items = {{StageId(99), 4}};
  for (int i = 0; i < 64; ++i) EXPECT_FALSE(branches.note(app, strange, items));
  EXPECT_TRUE(branches.empty());
}

}  // namespace
}  // namespace sluice::core
