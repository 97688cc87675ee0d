#include "domain/keepable.h"

#include <gtest/gtest.h>

#include <functional>

namespace sluice {
namespace {

// Three stages one after the other, on functions that can run on a GPU.
Application three_stages() {
  const ProfileTable profile{{{.configuration = configuration(1, 1, 1), .mean_ms = 1}}};
  Application out{.name = "a"};
  for (const char* name : {"f", "g"}) {
    out.functions.push_back({.name = name, .cpu = Body{}, .gpu = Body{}, .profile = profile});
  }
  for (std::uint32_t s = 0; s < 3; ++s) {
    Stage stage{.name = std::string(1, static_cast<char>('a' + s)), .function = FunctionId(s == 1 ? 1 : 0)};
    if (s > 0) stage.after = {StageId(s - 1)};
    out.workflow.stages.push_back(std::move(stage));
  }
  return out;
}

using Stages = std::vector<bool>;

Stages changed_by(const std::function<void(Application&)>& change) {
  Application application = three_stages();
  change(application);
  return keepable_stages(application);
}
Stage& stage_of(Application& application, std::size_t number) {
  return application.workflow.stages[number];
}

TEST(Keepable, AllButTheLastStageOfAChain) {
  EXPECT_EQ(keepable_stages(three_stages()), (Stages{true, true, false}));
}

TEST(Keepable, NotWhatACpuReadsOrMakes) {
  EXPECT_EQ(changed_by([](Application& app) { app.functions[1].gpu.reset(); }), (Stages{false, false, false}));
  const ProfileTable cpus{{{.configuration = configuration(1, 1, 0), .mean_ms = 1}}};
  EXPECT_EQ(changed_by([&](Application& app) { app.functions[1].profile = cpus; }), (Stages{false, false, false}));
  EXPECT_EQ(changed_by([](Application& app) { app.functions[1].profile = {}; }), (Stages{false, false, false}));
}

TEST(Keepable, NotWhatTheCallerGets) {
  EXPECT_EQ(changed_by([](Application& app) {
              app.outputs = {{"y", {StageId(0), "x"}}};
            }),
            (Stages{false, true, false}));
  const auto forked = changed_by([](Application& app) { stage_of(app, 2).after = {StageId(0)}; });
  EXPECT_EQ(forked, (Stages{true, false, false}));
}

TEST(Keepable, NotWhatAConditionOrAListReads) {
  const Condition condition{.kind = Condition::Kind::negate,
                            .terms = {{.comparison = {.left = {StageId(0), "x"}, .right = 1.0}}}};
  EXPECT_EQ(changed_by([&](Application& app) { stage_of(app, 2).when = condition; }), (Stages{false, true, false}));
  EXPECT_EQ(changed_by([&](Application& app) {
              stage_of(app, 1).foreach = Foreach{.over = {StageId(0), "x"}};
            }),
            (Stages{false, false, false}));
  EXPECT_EQ(changed_by([&](Application& app) {
              stage_of(app, 2).foreach = Foreach{.over = {StageId(0), "x"}};
            }),
            (Stages{false, false, false}));
}

TEST(Keepable, NotWhatIsHandedOnOrReadByAHandler) {
  EXPECT_EQ(changed_by([](Application& app) { stage_of(app, 1).kind = Stage::Kind::pass; }),
            (Stages{false, false, false}));
  EXPECT_EQ(changed_by([](Application& app) {
              stage_of(app, 0).catches = {{"all", StageId(2)}};
            }),
            (Stages{true, false, false}));
}

TEST(Keepable, NothingWhereAStageMustNotRunTwice) {
  EXPECT_EQ(changed_by([](Application& app) { stage_of(app, 2).idempotent = false; }), (Stages{false, false, false}));
}

}  // namespace
}  // namespace sluice
