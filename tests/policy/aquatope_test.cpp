#include "policy/aquatope.h"

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

// One function where a batch of four on two slices is cheapest by far and a little slower than the least configuration:
// the preset of every stage is (4, 2, 2), unless nothing is fast enough.
Application an_application(std::vector<Stage> stages) {
  ProfileTable table;
  table.rows.push_back({.configuration = configuration(1, 1, 1), .mean_ms = 10, .sd_ms = 0.1});
  table.rows.push_back({.configuration = configuration(4, 2, 2), .mean_ms = 12, .sd_ms = 0.1});
  Application out{.name = "app", .functions = {{.name = "f", .cpu = Body{}, .gpu = Body{}, .profile = table}}};
  out.workflow.stages = std::move(stages);
  return out;
}

Stage stage(std::string name, std::vector<StageId> after = {}) {
  return {.name = std::move(name), .function = FunctionId(0), .after = std::move(after)};
}

// A queue for each stage of a chain, machines with a GPU of seven slices, time standing still.
class Scene {
 public:
  explicit Scene(std::size_t stages = 1, const Parameters& parameters = {{"rounds", 3}, {"prospects", 64}},
                 std::shared_ptr<const AquatopePresets> known = nullptr)
      : parameters_(parameters), known_(std::move(known)), dispatch_(make_aquatope(parameters_, known_)) {
    std::vector<Stage> chain;
    for (std::uint32_t s = 0; s < stages; ++s) {
      std::vector<StageId> after;
      if (s > 0) after.push_back(StageId(s - 1));
      chain.push_back(stage(std::string(1, static_cast<char>('a' + s)), after));
    }
    application_ = std::make_shared<Application>(an_application(chain));
    const auto profiles = plan::make_profiles(*application_);
    auto model = std::make_shared<plan::WorkflowModel>(plan::make_model(*application_, *profiles).value());
    models_.push_back({ApplicationId(0), application_, model});
    for (std::uint32_t s = 0; s < stages; ++s) add_queue(model, s);
  }
  void add_handler() {
    const auto profiles = plan::make_profiles(*application_);
    auto alone = plan::make_stage_model(*application_, *profiles, stage("sorry"));
    add_queue(std::make_shared<plan::WorkflowModel>(std::move(alone).value()), 0);
  }
  Scene& machine(std::uint32_t vcpu, std::uint32_t slices = 7) {
    Invoker invoker{.id = InvokerId(static_cast<InvokerId::rep>(invokers_.size())), .usable = true, .warm = true};
    invoker.vcpu = invoker.vcpu_free = vcpu;
    invoker.gpus.push_back({.slices = slices, .free = (std::uint64_t{1} << slices) - 1});
    invokers_.push_back(invoker);
    return *this;
  }
  Invoker& machine_at(std::size_t i) { return invokers_[i]; }
  Scene& wait(std::size_t queue, int count, double slo_ms = 100) {
    for (int i = 0; i < count; ++i) {
      queues_[queue].waiting.push_back(
          {.invocation = InvocationId(next_++), .deadline = Time() + Duration::ms(slo_ms)});
    }
    return *this;
  }
  // Everything that starts at one instant, as the core would book it on machines that never get full.
  std::vector<Proposals> decide() {
    busy_.clear();
    for (std::uint32_t q = 0; q < queues_.size(); ++q) {
      if (!queues_[q].waiting.empty()) busy_.push_back(q);
    }
    std::vector<Proposals> out;
    dispatch_->begin(view());
    Proposals proposals;
    while (dispatch_->next(view(), proposals)) {
      const bool booked = !proposals.ranked.empty();
      for (std::uint32_t i = 0; booked && i < proposals.ranked[0].members; ++i)
        queues_[proposals.queue.index()].waiting.pop_front();
      dispatch_->decided(view(), proposals, booked ? std::optional<std::size_t>(0) : std::nullopt);
      if (booked) out.push_back(proposals);
    }
    return out;
  }
  // Goes on with a fresh policy that has loaded the state of this one.
  Scene& reload() {
    std::string saved;
    Archive out = Archive::saving(saved);
    dispatch_->visit(out);
    dispatch_ = make_aquatope(parameters_, known_);
    Archive in = Archive::loading(saved);
    dispatch_->visit(in);
    EXPECT_TRUE(in.ok() && in.at_end());
    return *this;
  }
  [[nodiscard]] const Application& application() const { return *application_; }
  [[nodiscard]] const plan::WorkflowModel& model() const { return *models_[0].model; }

 private:
  FreeIndex by_free_;
  Transfer transfer_;
  [[nodiscard]] View view() const {
    return {.queues = queues_,
            .busy_queues = busy_,
            .invokers = invokers_,
            .by_free = by_free_,
            .applications = models_,
            .transfer = transfer_};
  }
  void add_queue(std::shared_ptr<const plan::WorkflowModel> model, std::uint32_t model_stage) {
    queues_.push_back({.id = QueueId(static_cast<QueueId::rep>(queues_.size())),
                       .application = ApplicationId(0),
                       .function = FunctionId(0),
                       .model = std::move(model),
                       .model_stage = model_stage,
                       .entry = model_stage == 0});
  }

  Parameters parameters_;
  std::shared_ptr<const AquatopePresets> known_;
  std::unique_ptr<Dispatch> dispatch_;
  std::shared_ptr<const Application> application_;
  std::vector<ApplicationModel> models_;
  std::vector<Queue> queues_;
  std::vector<std::uint32_t> busy_;
  std::vector<Invoker> invokers_;
  InvocationId::rep next_ = 0;
};

TEST(Aquatope, RunsEveryBatchWithThePresetOfItsStage) {
  Scene scene(3);
  const auto started = scene.machine(16).wait(0, 4).wait(1, 4).wait(2, 8).decide();
  ASSERT_EQ(started.size(), 4u);
  for (const Proposals& batch : started) {
    EXPECT_EQ(batch.ranked[0].configuration, configuration(4, 2, 2));
    EXPECT_EQ(batch.ranked[0].members, 4u);
    EXPECT_TRUE(batch.planned);
    EXPECT_FALSE(batch.configuration_missed);
  }
}

TEST(Aquatope, StartsWithFewerThanPlannedAndCountsTheMiss) {
  Scene scene;
  const auto started = scene.machine(16).wait(0, 5).decide();
  ASSERT_EQ(started.size(), 2u);
  EXPECT_FALSE(started[0].configuration_missed);
  EXPECT_EQ(started[1].ranked[0].configuration, configuration(4, 2, 2));  // the same vCPUs and slices
  EXPECT_EQ(started[1].ranked[0].members, 1u);
  EXPECT_TRUE(started[1].configuration_missed);
}

TEST(Aquatope, WhatFittedNowhereMissesWhenItStartsLater) {
  Scene scene;
  scene.machine(16).machine_at(0).vcpu_free = 1;
  EXPECT_TRUE(scene.wait(0, 4).decide().empty());
  scene.reload();
  scene.machine_at(0).vcpu_free = 16;
  const auto later = scene.wait(0, 4).decide();
  ASSERT_EQ(later.size(), 2u);
  EXPECT_TRUE(later[0].configuration_missed);   // waited for room
  EXPECT_FALSE(later[1].configuration_missed);  // did not
}

TEST(Aquatope, DoesNotWaitForAMachineThatDoesNotExist) {
  Scene scene;
  const auto started = scene.machine(1).wait(0, 4).decide();
  ASSERT_EQ(started.size(), 4u);
  EXPECT_EQ(started[0].ranked[0].configuration, configuration(1, 1, 1));
  EXPECT_TRUE(started[0].configuration_missed);
}

TEST(Aquatope, KeepsThePresetsOfTheFirstSloAcrossReloads) {
  Scene scene;
  scene.machine(16).wait(0, 4, 100).decide();
  const auto later = scene.reload().wait(0, 4, 1).decide();  // an SLO that nothing meets
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].ranked[0].configuration, configuration(4, 2, 2));
}

TEST(Aquatope, PlansAnErrorHandlerOnItsOwn) {
  Scene scene(3);
  scene.add_handler();
  // Nothing is fast enough for the handler's request; the application's own stages are planned by a later one.
  const auto handled = scene.machine(16).wait(3, 1, 1).decide();
  ASSERT_EQ(handled.size(), 1u);
  EXPECT_EQ(handled[0].ranked[0].configuration, configuration(1, 1, 1));
  const auto started = scene.wait(2, 4).decide();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].ranked[0].configuration, configuration(4, 2, 2));
}

TEST(Aquatope, TakesPresetsThatWereMadeBefore) {
  const Parameters parameters{{"rounds", 3}, {"prospects", 64}};
  const Scene made;
  const auto entry = aquatope_preset(made.application(), made.model(), Duration::ms(100.4), parameters);
  EXPECT_EQ(entry.first, (std::pair<std::string, std::int64_t>("default/app", 100)));
  EXPECT_EQ(entry.second, std::vector<std::uint32_t>{3});
  auto known = std::make_shared<AquatopePresets>();
  known->emplace(entry.first, std::vector<std::uint32_t>{0});  // not what a search would find
  Scene scene(1, parameters, known);
  const auto started = scene.machine(16).wait(0, 1, 99.7).decide();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].ranked[0].configuration, configuration(1, 1, 1));
}

TEST(AquatopeSettings, AreTheSmallBudgetUnlessAskedOtherwise) {
  const plan::AquatopeSettings small = aquatope_settings({});
  EXPECT_EQ(small.initial + small.rounds * small.points, 70u);
  const plan::AquatopeSettings full = aquatope_settings({{"full", 1}, {"seed", 9}});
  EXPECT_EQ(full.initial + full.rounds * full.points, 350u);
  EXPECT_EQ(full.seed, 9u);
  EXPECT_EQ(aquatope_settings({{"full", 1}, {"rounds", 7}}).rounds, 7u);
  EXPECT_EQ(aquatope_settings({{"initial", -5}}).initial, 1u);
}

}  // namespace
}  // namespace sluice::policy
