// The percentile that a document asks for is the one that accepted requests meet, and what it saves is kept.
#include <gtest/gtest.h>

#include "sim/world.h"
#include "spec/load.h"

namespace sluice::sim {
namespace {

RunResult run(std::optional<double> percentile) {
  const spec::Loaded loaded = spec::load("examples/esg/moderate_normal.yaml");
  EXPECT_TRUE(loaded.document.has_value());
  Experiment experiment = std::get<Experiment>(*loaded.document);
  experiment.workload.requests = 12'000;
  experiment.workload.warmup = 1'500;
  for (Application& application : experiment.applications) application.objective.percentile = percentile;
  auto world = World::make(experiment, {.scheduler = "sluice"});
  EXPECT_TRUE(world.ok());
  return (*world)->run();
}

double met_of_accepted(const RunResult& result) {
  return 100 * static_cast<double>(result.met) / static_cast<double>(result.requests - result.rejected);
}

TEST(Percentile, IsMetAndNotExceededByMuch) {
  const RunResult all = run(std::nullopt);  // as many as possible
  const RunResult most = run(90), half = run(50);
  EXPECT_GT(met_of_accepted(all), 99.5);
  EXPECT_GE(met_of_accepted(most), 90);
  EXPECT_LE(met_of_accepted(most), 92);
  EXPECT_LT(most.cost, all.cost);
  EXPECT_GE(met_of_accepted(half), 50);
  EXPECT_LE(met_of_accepted(half), 52);
  EXPECT_LT(half.cost, most.cost);
}

}  // namespace
}  // namespace sluice::sim
