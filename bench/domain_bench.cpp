// What the analysis of a workflow costs at deploy: each step on the largest layered workflow, all steps together on
// series-parallel ones, and shapes on which a careless algorithm is quadratic.
#include <benchmark/benchmark.h>

#include "domain/dominators.h"
#include "domain/graph.h"
#include "domain/paths.h"
#include "domain/series_parallel.h"
#include "support/random_workflow.h"

namespace sluice {
namespace {

constexpr std::uint64_t kSeed = 1;

const Predecessors& layered() {
  static const Predecessors workflow = [] {
    Rng rng(kSeed);
    return layered_workflow({}, rng);
  }();
  return workflow;
}

void analyse(const Predecessors& predecessors) {
  const Graph graph = graph_of(predecessors);
  benchmark::DoNotOptimize(dominators(graph));
  benchmark::DoNotOptimize(post_dominators(graph));
  benchmark::DoNotOptimize(series_parallel(graph));
  benchmark::DoNotOptimize(longest_paths(graph, std::vector<double>(graph.size(), 1)));
  benchmark::DoNotOptimize(count_paths(graph));
}

void run_analysis(benchmark::State& state, const Predecessors& predecessors) {
  for (auto _ : state) analyse(predecessors);
  state.counters["stages"] = static_cast<double>(predecessors.size());
}

void layered_make(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Graph::make(layered()));
}
template <auto Function>
void layered_step(benchmark::State& state) {
  const Graph graph = graph_of(layered());
  for (auto _ : state) benchmark::DoNotOptimize(Function(graph));
}
SeriesParallelTree decompose(const Graph& graph) {
  return series_parallel(graph);
}
LongestPaths longest(const Graph& graph) {
  return longest_paths(graph, std::vector<double>(graph.size(), 1));
}

void layered_all(benchmark::State& state) {
  run_analysis(state, layered());
}
void series_parallel_all(benchmark::State& state) {
  Rng rng(kSeed);
  run_analysis(state, series_parallel_workflow(static_cast<std::size_t>(state.range(0)), rng));
}
template <auto Shape>
void shape_all(benchmark::State& state) {
  run_analysis(state, Shape(static_cast<std::size_t>(state.range(0))));
}

BENCHMARK(layered_make)->Unit(benchmark::kMillisecond);
BENCHMARK(layered_step<dominators>)->Name("layered_dominators")->Unit(benchmark::kMillisecond);
BENCHMARK(layered_step<post_dominators>)->Name("layered_post_dominators")->Unit(benchmark::kMillisecond);
BENCHMARK(layered_step<decompose>)->Name("layered_series_parallel")->Unit(benchmark::kMillisecond);
BENCHMARK(layered_step<longest>)->Name("layered_longest_paths")->Unit(benchmark::kMillisecond);
BENCHMARK(layered_step<count_paths>)->Name("layered_count_paths")->Unit(benchmark::kMillisecond);
BENCHMARK(layered_all)->Unit(benchmark::kMillisecond);
BENCHMARK(series_parallel_all)->Arg(50)->Arg(500)->Arg(5'000)->Arg(50'000)->Unit(benchmark::kMillisecond);
// Twice the size must take twice the time.
BENCHMARK(shape_all<nested_diamonds>)
    ->Name("nested_diamonds_all")
    ->Arg(8'000)
    ->Arg(16'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(shape_all<chain>)->Name("chain_all")->Arg(25'000)->Arg(50'000)->Unit(benchmark::kMillisecond);
BENCHMARK(shape_all<ladder>)->Name("ladder_all")->Arg(12'500)->Arg(25'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
