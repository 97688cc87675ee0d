// The percentile that a document asks for is the one that accepted requests meet, and what it saves is kept.
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/world.h"
#include "spec/load.h"
#include "support/sanitized.h"

namespace sluice::sim {
namespace {

RunResult run(const std::string& load, std::optional<double> percentile) {
  const spec::Loaded loaded = spec::load("examples/esg/moderate_" + load + ".yaml");
  EXPECT_TRUE(loaded.document.has_value());
  Experiment experiment = std::get<Experiment>(*loaded.document);
  experiment.workload.requests = 20'000;  // under heavy load the price of a miss is found more slowly: nothing is saved
  experiment.workload.warmup = 2'000;     // while requests are refused
  for (Application& application : experiment.applications) application.objective.percentile = percentile;
  auto world = World::make(experiment, {.scheduler = "sluice"});
  EXPECT_TRUE(world.ok());
  return (*world)->run();
}

double met_of_accepted(const RunResult& result) {
  return 100 * static_cast<double>(result.met) / static_cast<double>(result.requests - result.rejected);
}

TEST(Percentile, IsMetAndNotExceededByMuchAtEveryLoad) {
  const std::vector<std::string> loads{"normal", "light", "heavy"};
  for (const std::string& load : std::span(loads).first(test::fewer_if_sanitized(3))) {
    RunResult more = run(load, std::nullopt);  // as many as possible
    EXPECT_GT(met_of_accepted(more), 99.3) << load;
    for (const double percentile : {99.0, 95.0, 90.0, 50.0}) {
      const RunResult result = run(load, percentile);
      EXPECT_GE(met_of_accepted(result), percentile) << load;
      EXPECT_LE(met_of_accepted(result), percentile + 2) << load;
      EXPECT_LT(result.cost, more.cost) << load << " " << percentile;
      more = result;
    }
  }
}

}  // namespace
}  // namespace sluice::sim
