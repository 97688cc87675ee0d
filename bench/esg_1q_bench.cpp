// Nanoseconds per expansion of ESG_1Q on the three-stage applications, and the label search beside it. Arguments: batch
// cap (0: none) and budget in percent of L. Run with --benchmark_repetitions=9 and read the medians.
#include <benchmark/benchmark.h>

#include "plan/rivals/esg_1q.h"
#include "plan/rivals/label_search.h"
#include "support/esg_profile.h"

namespace sluice::plan {
namespace {

BatchCap cap_of(std::int64_t argument) {
  return argument == 0 ? kNoBatchCap : static_cast<BatchCap>(argument);
}

void report(benchmark::State& state, std::uint64_t expansions) {
  state.counters["expansions"] = static_cast<double>(expansions);
  state.counters["per_expansion"] = benchmark::Counter(
      static_cast<double>(expansions), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void esg_1q_on(benchmark::State& state, const esg_profile::Application& application, bool distinct_first) {
  const SortedStages stages(application.candidates(), cap_of(state.range(0)), SortedStages::Keep::all);
  const EsgQuery query{.budget_ms = application.minimum_ms() * static_cast<double>(state.range(1)) / 100,
                       .distinct_first = distinct_first};
  SearchWorkspace workspace;
  std::uint64_t expansions = 0;
  for (auto _ : state) {
    const SearchResult result = esg_1q(stages, query, workspace);
    expansions = result.expansions;
    benchmark::DoNotOptimize(result.paths.data());
  }
  report(state, expansions);
}

void label_on(benchmark::State& state, const esg_profile::Application& application) {
  const SortedStages stages(application.candidates(), cap_of(state.range(0)), SortedStages::Keep::pareto);
  const double budget_ms = application.minimum_ms() * static_cast<double>(state.range(1)) / 100;
  SearchWorkspace workspace;
  std::uint64_t expansions = 0;
  for (auto _ : state) {
    const SearchResult result = label_search(stages, budget_ms, workspace);
    expansions = result.expansions;
    benchmark::DoNotOptimize(result.paths.data());
  }
  report(state, expansions);
}

void every_setting(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgsProduct({{0, 32}, {80, 100, 120}})->ArgNames({"cap", "percent"})->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(esg_1q_on, image_classification, esg_profile::image_classification(), false)->Apply(every_setting);
BENCHMARK_CAPTURE(esg_1q_on, depth_recognition, esg_profile::depth_recognition(), false)->Apply(every_setting);
BENCHMARK_CAPTURE(esg_1q_on, background_elimination, esg_profile::background_elimination(), false)
    ->Apply(every_setting);
BENCHMARK_CAPTURE(esg_1q_on, image_classification_distinct_first, esg_profile::image_classification(), true)
    ->Apply(every_setting);
BENCHMARK_CAPTURE(label_on, image_classification, esg_profile::image_classification())->Apply(every_setting);
BENCHMARK_CAPTURE(label_on, expanded_image_classification, esg_profile::expanded_image_classification())
    ->Apply(every_setting);

}  // namespace
}  // namespace sluice::plan

BENCHMARK_MAIN();
