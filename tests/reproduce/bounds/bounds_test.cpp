// The bounds against every schedule of tiny experiments.
#include "reproduce/bounds/bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.h"
#include "base/text.h"
#include "reproduce/bounds/every_schedule.h"
#include "spec/load.h"

namespace sluice::reproduce {
namespace {

// Two applications over the functions f and g, few configurations, one or two machines of two slices.
std::string tiny_text(Rng& rng, std::string& application_a, std::string& application_b) {
  const auto profile = [&] {
    const double ms = 10 + 10 * rng.uniform();
    const double two = ms * rng.uniform(1.1, 1.9), wide = ms * rng.uniform(0.55, 0.9);
    std::string rows = str("[[1, 1, 1, ", ms, ", 0], [2, 1, 1, ", two, ", 0]");
    if (rng.chance(0.5)) rows += str(", [1, 1, 2, ", wide, ", 0]");
    return rows + "]";
  };
  const std::string functions = str("functions:\n  f: {runtime: emulated, bytes: 1MB, profile: {table: ", profile(),
                                    "}}\n  g: {runtime: emulated, bytes: 2MB, profile: {table: ", profile(), "}}\n");
  const bool chain = rng.chance(0.6);
  const auto application = [&](const std::string& name, const std::string& workflow) {
    return str("application: ", name, "\nslo: {latency: 50ms}\n", functions, "workflow:\n", workflow);
  };
  application_a = application("a", chain ? "  f: {}\n  g: {after: f}\n" : "  f: {}\n");
  application_b = application("b", rng.chance(0.5) ? "  g: {}\n" : "  f: {}\n");
  const int requests = chain ? 3 : 4;
  return str("experiment: tiny\ncluster: {invokers: ", 1 + rng.below(2), ", vcpu: 4, gpus: 1, slices_per_gpu: 2}\n",
             "applications: [a.yaml, b.yaml]\nslo_scale: ", rng.uniform(0.9, 2.2), "\n",
             "workload: {arrivals: uniform-gap, gap: [1ms, ", 2 + rng.below(20),
             "ms], mix: uniform, requests: ", requests, ", warmup: 0}\nnoise: {sigma: ", rng.chance(0.3) ? 0.0 : 0.1,
             ", straggler: {probability: ", rng.chance(0.3) ? 0.2 : 0.0, ", factor: 1.5}}\n",
             "transfer: {local: 1GB/s, remote: 500MB/s, local_delay: 0.2ms, remote_delay: 1ms}\n");
}

Experiment tiny(Rng& rng) {
  std::string a, b;
  const std::string text = tiny_text(rng, a, b);
  const spec::Loaded loaded = spec::load("tiny.yaml", [&](const std::string& path) -> Result<std::string> {
    return path.ends_with("a.yaml") ? a : path.ends_with("b.yaml") ? b : text;
  });
  EXPECT_TRUE(loaded.document.has_value()) << text;
  return std::get<Experiment>(*loaded.document);
}

TEST(Bounds, NoScheduleOfATinyExperimentBeatsThem) {
  Rng rng(2);
  double gap = 0, gap_met = 0;
  int compared = 0, spare_hits = 0;
  std::size_t outcomes_seen = 0;
  constexpr int kRounds = 24;
  for (int round = 0; round < kRounds; ++round) {
    const Experiment experiment = tiny(rng);
    const auto offered = make_offered(experiment, rng.next());
    ASSERT_TRUE(offered.ok()) << offered.error().message;
    const std::size_t requests = offered->requests.size();
    const HitBound hits = most_hits(*offered);
    int most = 0;
    for (const auto& [who, bills] : every_schedule(experiment, *offered)) {
      ++outcomes_seen;
      const auto [ran, met] = who;
      most = std::max(most, __builtin_popcount(met));
      std::vector<Outcome> all(requests), only_met(requests);
      for (std::size_t r = 0; r < requests; ++r) {
        const bool in_time = met >> r & 1;
        all[r] = {.ran = (ran >> r & 1) != 0, .met = in_time, .billed = true};
        only_met[r] = {.ran = all[r].ran, .met = in_time, .billed = in_time};
      }
      const Dollars whole = least_cost(*offered, all), of_the_met = least_cost(*offered, only_met);
      EXPECT_LE(whole, bills.whole) << "round " << round << " ran " << ran << " met " << met;
      EXPECT_LE(of_the_met, bills.of_the_met) << "round " << round << " ran " << ran << " met " << met;
      if (met == 0 || met != ran) continue;  // nothing was wasted
      gap += bills.whole / whole - 1;
      gap_met += bills.of_the_met / of_the_met - 1;
      ++compared;
    }
    EXPECT_LE(most, static_cast<int>(hits.hits)) << "round " << round;
    spare_hits += static_cast<int>(hits.hits) - most;
  }
  EXPECT_GT(compared, kRounds);
  EXPECT_LT(gap / compared, 0.25) << "a bound that says nothing";
  std::printf("%zu outcomes: dollars %.1f %% above the bound on average (of the met alone %.1f %%), %.2f hits below\n",
              outcomes_seen, 100 * gap / compared, 100 * gap_met / compared, static_cast<double>(spare_hits) / kRounds);
}

}  // namespace
}  // namespace sluice::reproduce
