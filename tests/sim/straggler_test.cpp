// Batches that take several times as long as any profile says: nobody is told; how many and how slow is learned, and
// time is kept for them.
#include <gtest/gtest.h>

#include "sim/world.h"
#include "spec/load.h"
#include "support/sanitized.h"

namespace sluice::sim {
namespace {

struct Sum {
  double hits = 0, cost_per_met = 0;
};

// Over three streams.
Sum run(const std::string& setting, const std::string& scheduler, const Noise& noise) {
  const spec::Loaded loaded = spec::load("examples/esg/" + setting + ".yaml");
  EXPECT_TRUE(loaded.document.has_value());
  Experiment experiment = std::get<Experiment>(*loaded.document);
  experiment.workload.requests = 6'000;
  experiment.workload.warmup = 2'000;
  experiment.noise = noise;
  Sum out;
  std::uint64_t met = 0, requests = 0;
  for (std::uint64_t seed = 1; seed <= test::fewer_if_sanitized(3); ++seed) {
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
  // By how much each may be cheaper: it buys hits.
  for (const auto& [setting, dearer] : {std::pair("relaxed_heavy", 1.05), std::pair("strict_light", 1.1)}) {
    const Sum own = run(setting, "sluice", noise);
    for (const char* other : {"esg", "orion", "fast-gshare", "infless"}) {
      const Sum rival = run(setting, other, noise);
      EXPECT_GE(own.hits, rival.hits + 0.3) << setting << " " << other;
      EXPECT_LE(own.cost_per_met, dearer * rival.cost_per_met) << setting << " " << other;
    }
  }
}

// What stragglers teach is not believed where there are none.
TEST(Stragglers, CompanyIsWaitedForWithoutThem) {
  const Noise noise{.sigma = 0.05};
  const Sum own = run("relaxed_heavy", "sluice", noise), other = run("relaxed_heavy", "esg", noise);
  EXPECT_GE(own.hits, 99.9);
  EXPECT_LT(own.cost_per_met, 0.93 * other.cost_per_met);
}

}  // namespace
}  // namespace sluice::sim
