// Batches that take several times as long as any profile says: nobody is told, and slack is what makes up for them.
#include <gtest/gtest.h>

#include "sim/world.h"
#include "spec/load.h"

namespace sluice::sim {
namespace {

struct Sum {
  double hits = 0, cost_per_met = 0;
};

// Over three streams.
Sum run(const std::string& scheduler, const Noise& noise) {
  const spec::Loaded loaded = spec::load("examples/esg/relaxed_heavy.yaml");
  EXPECT_TRUE(loaded.document.has_value());
  Experiment experiment = std::get<Experiment>(*loaded.document);
  experiment.workload.requests = 6'000;
  experiment.workload.warmup = 2'000;
  experiment.noise = noise;
  Sum out;
  std::uint64_t met = 0, requests = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    experiment.seed = seed;
    auto world = World::make(experiment, {.scheduler = scheduler});
    EXPECT_TRUE(world.ok());
    const RunResult result = (*world)->run();
    met += result.met;
    requests += result.requests;
    out.cost_per_met += result.cost;
  }
  out.hits = 100 * static_cast<double>(met) / static_cast<double>(requests);
  out.cost_per_met /= static_cast<double>(met);
  return out;
}

TEST(Stragglers, NobodyMeetsMoreThanSluice) {
  const Noise noise{.sigma = 0.05, .straggler_probability = 0.02, .straggler_factor = 4};
  const Sum own = run("sluice", noise);
  for (const char* other : {"esg", "orion", "fast-gshare"}) {
    const Sum rival = run(other, noise);
    EXPECT_GE(own.hits, rival.hits) << other;
    EXPECT_LE(own.cost_per_met, rival.cost_per_met) << other;
  }
}

// What stragglers teach is not believed where there are none.
TEST(Stragglers, CompanyIsWaitedForWithoutThem) {
  const Noise noise{.sigma = 0.05};
  const Sum own = run("sluice", noise), other = run("esg", noise);
  EXPECT_GE(own.hits, 99.9);
  EXPECT_LT(own.cost_per_met, 0.93 * other.cost_per_met);
}

}  // namespace
}  // namespace sluice::sim
