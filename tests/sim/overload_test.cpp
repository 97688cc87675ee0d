// More than the machines can do, with times that are not what profiles say and change while it runs: what is let in is
// in time, and as much of it as at the peak.
#include <gtest/gtest.h>

#include "sim/world.h"
#include "spec/load.h"
#include "support/sanitized.h"

namespace sluice::sim {
namespace {

RunResult run(double rate, const Noise& noise) {
  const spec::Loaded loaded = spec::load("examples/esg/relaxed_heavy.yaml");
  EXPECT_TRUE(loaded.document.has_value());
  Experiment experiment = std::get<Experiment>(*loaded.document);
  experiment.cluster.nodes.front().count = 8;
  experiment.slo_scale = 2;
  experiment.workload.arrivals = Poisson{.rate = rate};
  experiment.workload.requests = test::fewer_if_sanitized(12'000);
  experiment.workload.warmup = 4'000;
  experiment.noise = noise;
  auto world = World::make(experiment, {.scheduler = "sluice"});
  EXPECT_TRUE(world.ok());
  return (*world)->run();
}

double goodput(const RunResult& result) {
  return static_cast<double>(result.met) / result.seconds;
}
double late(const RunResult& result) {
  const auto accepted = static_cast<double>(result.requests - result.rejected);
  return static_cast<double>(result.late + result.failed) / accepted;
}

TEST(Overload, KeepsItsPeakWithTimesThatNoProfileKnows) {
  const Noise noise{.sigma = 0.05, .slow = {{Duration{}, 1.6}}};
  const double peak = goodput(run(40, noise));
  for (const double rate : {60.0, 120.0}) {
    const RunResult result = run(rate, noise);
    EXPECT_GT(goodput(result), 0.93 * peak) << rate;
    // Of fewer requests the first, of which nothing was measured yet, are a larger part.
    EXPECT_LT(late(result), test::kSanitized ? 0.03 : 0.02) << rate;
  }
}

// Half as fast for twenty seconds, again and again: nobody is told. Who is in the system when they slow down was let in
// for other machines, so that some are late.
TEST(Overload, FollowsMachinesThatSlowDownAndRecover) {
  Noise noise{.sigma = 0.05};
  for (int i = 1; i < 20; ++i) noise.slow.push_back({Duration::s(20 * i), i % 2 == 1 ? 2.0 : 1.0});
  const RunResult result = run(100, noise);
  const double slow = goodput(run(100, {.sigma = 0.05, .slow = {{Duration{}, 2.0}}}));
  const double fast = goodput(run(100, {.sigma = 0.05}));
  EXPECT_GT(goodput(result), 0.78 * (slow + fast) / 2);
  EXPECT_LT(late(result), test::kSanitized ? 0.18 : 0.17);  // as above
}

}  // namespace
}  // namespace sluice::sim
