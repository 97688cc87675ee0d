// The scheduler `aquatope` in whole runs. Its searches are cut short, except where their result matters.
#include <gtest/gtest.h>

#include "sim/prepare.h"
#include "sim/world.h"
#include "spec/load.h"

namespace sluice::sim {
namespace {

Experiment experiment(const std::string& path, std::uint64_t requests) {
  const spec::Loaded loaded = spec::load(path);
  EXPECT_TRUE(loaded.document.has_value());
  Experiment out = std::get<Experiment>(*loaded.document);
  out.workload.requests = requests;
  out.workload.warmup = requests / 10;
  out.parameters["aquatope"] = {{"rounds", 8}, {"prospects", 256}};
  return out;
}

RunResult run(const Experiment& experiment, const policy::Prepared& prepared = {}, const Faults& faults = {}) {
  auto world = World::make(
      experiment, {.scheduler = "aquatope", .prepared = prepared, .faults = faults, .check_every_event = faults.any()});
  EXPECT_TRUE(world.ok());
  return (*world)->run();
}

TEST(AquatopeRuns, MeetsTheObjectivesOfALightLoad) {
  const RunResult result = run(experiment("examples/esg/relaxed_light.yaml", 2'000));
  EXPECT_FALSE(result.violation);
  EXPECT_EQ(result.requests, result.met + result.late);
  EXPECT_GT(result.hit_rate(), 0.9);
}

// Presets with batches that a light load never fills are missed nearly always.
TEST(AquatopeRuns, MissesConfigurationsPlannedForBatches) {
  const RunResult result = run(experiment("examples/esg/strict_light.yaml", 2'000));
  EXPECT_EQ(result.planned, result.batches);
  EXPECT_GT(result.configuration_miss_rate(), 0.25);
}

TEST(AquatopeRuns, AreTheSameWithPresetsMadeBefore) {
  const Experiment strict = experiment("examples/esg/strict_light.yaml", 200);
  const auto prepared = prepare(strict, "aquatope");
  ASSERT_TRUE(prepared.ok());
  ASSERT_EQ(prepared->aquatope->size(), 4u);
  EXPECT_EQ(run(strict, *prepared).hash, run(strict).hash);
  // They are looked at: a run with others is another run.
  auto least = std::make_shared<policy::AquatopePresets>(*prepared->aquatope);
  for (auto& [key, candidates] : *least) std::fill(candidates.begin(), candidates.end(), 0u);
  EXPECT_NE(run(strict, {.aquatope = least}).hash, run(strict).hash);
  EXPECT_EQ(prepare(strict, "esg")->aquatope, nullptr);
}

TEST(AquatopeRuns, AreTheSameAcrossReloads) {
  const Experiment heavy = experiment("examples/esg/moderate_heavy.yaml", 60);
  EXPECT_EQ(run(heavy).hash, run(heavy, {}, {.reload_per_event = 0.2}).hash);
}

TEST(AquatopeRuns, RepeatToTheBitEverywhere) {
  EXPECT_EQ(run(experiment("examples/esg/moderate_normal.yaml", 500)).hash, 15219305486241171106u);
}

}  // namespace
}  // namespace sluice::sim
