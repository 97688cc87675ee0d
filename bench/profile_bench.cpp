// How fast "how long" is answered: the simulator asks it for every batch, planners for every candidate.
#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "profile/function_profile.h"
#include "profile/functions.h"
#include "profile/learner.h"

namespace sluice::profile {
namespace {

FunctionProfile model() {
  return FunctionProfile::make(esg_functions()[0]).value();
}

FunctionProfile table() {
  const FunctionProfile source = model();
  ProfileTable rows;
  for (const Configuration& c : source.configurations()) {
    rows.rows.push_back({.configuration = c, .mean_ms = source.latency(c).mean_ms, .sd_ms = 1, .busy_mean_ms = {}});
  }
  return FunctionProfile::make(Profile(rows)).value();
}

std::vector<Configuration> questions(const FunctionProfile& profile, int batch_shift) {
  Rng rng(1);
  std::vector<Configuration> list;
  for (int i = 0; i < 1024; ++i) {
    Configuration c = profile.configurations()[rng.below(profile.configurations().size())];
    c.batch = static_cast<std::uint16_t>(c.batch + batch_shift);
    list.push_back(c);
  }
  return list;
}

void ask(benchmark::State& state, const FunctionProfile& profile, int batch_shift) {
  const std::vector<Configuration> list = questions(profile, batch_shift);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(profile.latency(list[i++ % list.size()]));
}

void BM_TableExactRow(benchmark::State& state) {
  ask(state, table(), 0);
}
void BM_TablePartialBatch(benchmark::State& state) {
  ask(state, table(), 1);
}
void BM_Model(benchmark::State& state) {
  ask(state, model(), 0);
}
BENCHMARK(BM_TableExactRow);
BENCHMARK(BM_TablePartialBatch);
BENCHMARK(BM_Model);

void BM_NormalQuantile(benchmark::State& state) {
  double percentile = 50;
  for (auto _ : state) benchmark::DoNotOptimize(normal_quantile(percentile = percentile < 99 ? percentile + .7 : 50.7));
}
BENCHMARK(BM_NormalQuantile);

// What the core does for every finished batch, with as many configurations in use as the argument says.
void BM_LearnerObserveAndCompare(benchmark::State& state) {
  Rng rng(1);
  Learner published, learner;
  std::uint64_t changes = 0;
  for (auto _ : state) {
    const Configuration c =
        configuration(static_cast<int>(rng.below(static_cast<std::uint64_t>(state.range(0)))) + 1, 1, 1);
    learner.observe(c, 40, 40 * (1 + .05 * rng.normal()));
    if (learner.changed_since(published, c, {40, 2, false})) published = learner, ++changes;
  }
  state.counters["rebuilds"] = benchmark::Counter(static_cast<double>(changes), benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_LearnerObserveAndCompare)->Arg(1)->Arg(8)->Arg(64);

}  // namespace
}  // namespace sluice::profile

BENCHMARK_MAIN();
