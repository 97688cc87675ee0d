// Runs of the scheduler `esg` that know what ESG_1Q answered in runs before.
#include <gtest/gtest.h>

#include <memory>

#include "sim/world.h"
#include "spec/load.h"

namespace sluice::sim {
namespace {

using Answers = std::shared_ptr<policy::EsgAnswers>;

Experiment experiment(const std::string& path, double k = 5) {
  const spec::Loaded loaded = spec::load(path);
  EXPECT_TRUE(loaded.document.has_value());
  Experiment out = std::get<Experiment>(*loaded.document);
  out.workload.requests = 300;
  out.workload.warmup = 30;
  out.parameters["esg"] = {{"k", k}};
  return out;
}

RunResult run(const Experiment& experiment, const Answers& known, const Answers& found) {
  auto world = World::make(experiment, {.scheduler = "esg", .prepared = {.esg = {.known = known, .found = found}}});
  EXPECT_TRUE(world.ok());
  return (*world)->run();
}

void expect_same(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.expansions, b.expansions);
  EXPECT_EQ(a.met, b.met);
  EXPECT_EQ(a.cost, b.cost);
}

TEST(EsgLibrary, ChangesNothingButTheTimeARunTakes) {
  const Experiment strict = experiment("examples/esg/strict_normal.yaml");
  const RunResult alone = run(strict, nullptr, nullptr);
  const auto found = std::make_shared<policy::EsgAnswers>();
  expect_same(run(strict, nullptr, found), alone);
  EXPECT_GT(found->size(), 20u);
  // The second time nothing is searched for.
  const auto missing = std::make_shared<policy::EsgAnswers>();
  expect_same(run(strict, found, missing), alone);
  EXPECT_EQ(missing->size(), 0u);
}

// Other objectives ask of the same stages, another K of none of them.
TEST(EsgLibrary, IsAskedInOtherSettings) {
  const auto known = std::make_shared<policy::EsgAnswers>();
  (void)run(experiment("examples/esg/strict_normal.yaml"), nullptr, known);
  const Experiment moderate = experiment("examples/esg/moderate_normal.yaml");
  const auto alone = std::make_shared<policy::EsgAnswers>(), rest = std::make_shared<policy::EsgAnswers>();
  expect_same(run(moderate, known, rest), run(moderate, nullptr, alone));
  EXPECT_LT(rest->size(), alone->size());
  const Experiment wider = experiment("examples/esg/strict_normal.yaml", 10);
  const auto all = std::make_shared<policy::EsgAnswers>();
  expect_same(run(wider, known, all), run(wider, nullptr, nullptr));
  EXPECT_GT(all->size(), 20u);
}

}  // namespace
}  // namespace sluice::sim
