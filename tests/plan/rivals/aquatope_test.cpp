#include "plan/rivals/aquatope.h"

#include <gtest/gtest.h>

#include <bit>

#include "plan/rivals/brute_force.h"
#include "support/tree_builder.h"

namespace sluice::plan {
namespace {

// A chain of two with batches, vCPUs and slices up to 4: 27 candidates a stage. Basic operations only, so that the
// profile is the same bits everywhere.
WorkflowModel small_chain(double relative_sd) {
  WorkflowModel out;
  for (const double exec_ms : {86.0, 293.0}) {
    ModelStage stage{.name = "stage", .function = FunctionId(0)};
    for (const int b : {1, 2, 4}) {
      for (const int c : {1, 2, 4}) {
        for (const int g : {1, 2, 4}) {
          const double ms = exec_ms * (0.2 + 0.7 * (0.4 + 0.6 * b) / (0.3 + 0.7 * g) + 0.1 * b / c);
          stage.candidates.push_back({configuration(b, c, g), ms, Prices{}.per_ms(configuration(b, c, g)) * ms / b});
          stage.sd_ms.push_back(ms * relative_sd);
        }
      }
    }
    out.stages.push_back(std::move(stage));
  }
  out.tree = tree_builder::tree_of(tree_builder::series({tree_builder::stage(0), tree_builder::stage(1)}));
  return out;
}

Totals true_totals(const WorkflowModel& model, const AquatopePreset& preset) {
  std::vector<StageTerms> terms;
  for (std::size_t s = 0; s < model.stages.size(); ++s) {
    const Candidate& c = model.stages[s].candidates[preset.candidates[s]];
    terms.push_back({c.ms, c.cost});
  }
  return evaluate(model.tree, terms);
}

ChosenPath optimum(const WorkflowModel& model, double slo_ms) {
  std::vector<Candidates> stages;
  for (const ModelStage& stage : model.stages) stages.push_back(stage.candidates);
  return brute_force({.stages = stages, .budget_ms = slo_ms}, 1).value().front();
}

TEST(Aquatope, ComesNearTheBruteForceOptimumOfASmallChain) {
  const WorkflowModel model = small_chain(0.05);
  for (const double slo_ms : {260.0, 379.0, 600.0}) {
    double excess = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      AquatopeSettings settings{.prospects = 512, .seed = seed};
      const AquatopePreset preset = aquatope_preset(model, "app", slo_ms, settings);
      EXPECT_TRUE(preset.feasible);
      EXPECT_EQ(preset.samples, 70u);
      const Totals got = true_totals(model, preset);
      EXPECT_LE(got.ms, slo_ms * 1.05);  // the model's latency is within; the true one differs by its error
      excess += got.cost / optimum(model, slo_ms).cost - 1;
    }
    EXPECT_LT(excess / 3, 0.10) << slo_ms;
  }
}

// Four stages: 70 random samples hardly find a plan that is fast enough and cheap.
TEST(Aquatope, BeatsRandomSamplingWithTheSameBudget) {
  WorkflowModel model = small_chain(0.05);
  model.stages.insert(model.stages.end(), {model.stages[0], model.stages[1]});
  using tree_builder::stage;
  model.tree = tree_builder::tree_of(tree_builder::series({stage(0), stage(1), stage(2), stage(3)}));
  double guided = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto excess = [&](const AquatopeSettings& settings) {
      const Totals got = true_totals(model, aquatope_preset(model, "app", 550, settings));
      return got.cost / optimum(model, 550).cost - 1 + (got.ms > 1.05 * 550 ? 1 : 0);
    };
    guided += excess({.prospects = 512, .seed = seed}) / 5;
    random += excess({.initial = 70, .rounds = 0, .seed = seed}) / 5;
  }
  EXPECT_LT(guided, 0.7 * random) << guided << " and " << random;
}

TEST(Aquatope, TakesAboutTheFastestWhenNothingIsFastEnough) {
  const WorkflowModel model = small_chain(0.02);
  const AquatopePreset preset = aquatope_preset(model, "app", 10, {.prospects = 512});
  EXPECT_FALSE(preset.feasible);
  double fastest_ms = 0;
  for (const ModelStage& stage : model.stages) {
    double best = stage.candidates[0].ms;
    for (const Candidate& c : stage.candidates) best = std::min(best, c.ms);
    fastest_ms += best;
  }
  EXPECT_LT(true_totals(model, preset).ms, 1.15 * fastest_ms);
}

TEST(Aquatope, IsAPureFunctionKeyedByNameAndSeed) {
  const WorkflowModel model = small_chain(0.05);
  const AquatopeSettings settings{.rounds = 3, .prospects = 64};
  const AquatopePreset one = aquatope_preset(model, "a", 379, settings),
                       same = aquatope_preset(model, "a", 379, settings);
  EXPECT_EQ(one.candidates, same.candidates);
  EXPECT_EQ(one.ms, same.ms);  // to the bit
  EXPECT_EQ(one.cost, same.cost);
  EXPECT_NE(one.ms, aquatope_preset(model, "b", 379, settings).ms);
  AquatopeSettings other = settings;
  other.seed = 2;
  EXPECT_NE(one.ms, aquatope_preset(model, "a", 379, other).ms);
}

// Any change of these bits means that presets, and so whole runs, differ between compilers or from earlier versions.
TEST(Aquatope, GivesTheSameBitsEverywhere) {
  const AquatopePreset preset = aquatope_preset(small_chain(0.05), "golden", 379, {.initial = 60, .rounds = 4});
  EXPECT_EQ(std::bit_cast<std::uint64_t>(preset.ms), 4645132993593624783u);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(preset.cost), 4544735581339303211u);
}

TEST(Aquatope, NeedsNoSearchWhereThereIsNoChoice) {
  WorkflowModel model = small_chain(0);
  for (ModelStage& stage : model.stages) stage.candidates.resize(1);
  const AquatopePreset preset = aquatope_preset(model, "app", 1000, {});
  EXPECT_EQ(preset.candidates, (std::vector<std::uint32_t>{0, 0}));
  EXPECT_DOUBLE_EQ(preset.ms, 86 + 293);
  EXPECT_TRUE(preset.feasible);
}

// A workflow is more than its stages' sum: of two parallel branches only the slower one counts.
TEST(Aquatope, KnowsTheShapeOfTheWorkflow) {
  WorkflowModel model = small_chain(0.02);
  model.tree = tree_builder::tree_of(tree_builder::parallel({tree_builder::stage(0), tree_builder::stage(1)}));
  const AquatopePreset preset = aquatope_preset(model, "app", 293, {.prospects = 512});
  const Totals got = true_totals(model, preset);
  EXPECT_TRUE(preset.feasible);
  EXPECT_LE(got.ms, 293 * 1.05);
  EXPECT_LT(got.cost, optimum(model, 293).cost);  // the chain of both would need more for the same SLO
}

}  // namespace
}  // namespace sluice::plan
