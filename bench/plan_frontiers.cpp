#include "bench/plan_frontiers.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/race.h"
#include "plan/fastest_rest.h"

namespace sluice::bench {
namespace {

using plan::BatchCap;
using plan::FrontierOptions;
using plan::FrontierPlanner;

constexpr BatchCap kQueue = 32;
constexpr FrontierOptions kLarge{.points_max = 512};  // of a large workflow; ESG's applications are exact as they are

struct Subject {
  std::string name;
  plan::WorkflowModel model;
  double slo_ms = 0;
  std::size_t path_stages = 0;
  FrontierOptions options;
  std::size_t builds = 1;
  std::size_t stages_max = 500;  // asked one after the other, likewise
  std::size_t turns = 1;         // of every query
};

// Every `step`-th of `count`, `max` of them at most.
std::vector<std::size_t> spread(std::size_t count, std::size_t max) {
  std::vector<std::size_t> out;
  // Odd, so that it does not always meet the same configuration.
  const std::size_t step = count <= max ? 1 : (count / max) | 1;
  for (std::size_t i = 0; i < count; i += step) out.push_back(i);
  return out;
}

double build_ms(const Subject& subject, std::optional<FrontierPlanner>& planner) {
  std::vector<double> times;
  for (std::size_t i = 0; i < subject.builds; ++i) {
    plan::WorkflowModel model = subject.model;
    planner.reset();
    const Stopwatch watch;
    planner.emplace(std::move(model), subject.options);
    times.push_back(watch.us() / 1e3);
  }
  return median(times);
}

// The decision at every stage, with time left in the proportion the whole workflow has.
void measure_queries(const Subject& subject, const FrontierPlanner& planner, FrontierFigures& figures) {
  const double ease = subject.slo_ms / planner.whole(kQueue).fastest_ms();
  plan::FrontierWorkspace workspace;
  std::vector<double> by_stage;
  for (const std::size_t stage : spread(planner.model().stages.size(), subject.stages_max)) {
    Race race;
    const auto query = race.add(
        [&, b = Budgets(plan::FastestRest(planner.model(), kQueue).from(planner.model(), stage) * ease)]() mutable {
          benchmark::DoNotOptimize(planner.query(stage, kQueue, b.next(), workspace).data());
        });
    race.run(subject.turns);
    by_stage.push_back(race.median_us(query));
  }
  figures.query_median_us = median(by_stage);
  figures.query_worst_us = largest(by_stage);
}

FrontierFigures measure(const Subject& subject) {
  FrontierFigures out{.name = subject.name, .stages = subject.model.stages.size(), .path_stages = subject.path_stages};
  std::optional<FrontierPlanner> planner;
  out.build_ms = build_ms(subject, planner);
  out.points = planner->points();
  for (const BatchCap cap : planner->model().batch_caps()) out.bound = std::max(out.bound, planner->error_bound(cap));
  measure_queries(subject, *planner, out);
  return out;
}

void print_head() {
  fmt::print(
      "\nThe frontiers of a workflow, all batch caps together (a point takes {} bytes;\nquery: at every stage, queue "
      "{}, SLO 1.0 L; bound: how much dearer than the best a plan "
      "may be)\n\n",
      sizeof(plan::Frontier::Point), kQueue);
  fmt::print("{:<30} {:>6} {:>4}  {:>9} {:>10}  {:>10}  {:>12} {:>12}  {:>7}\n", "workflow", "stages", "path", "points",
             "memory", "build ms", "query µs", "worst", "bound");
}

void print(const FrontierFigures& f) {
  const double kib = static_cast<double>(f.points * sizeof(plan::Frontier::Point)) / 1024;
  fmt::print("{:<30} {:>6} {:>4}  {:>9} {:>6.0f} KiB  {:>10.2f}  {:>12.2f} {:>12.2f}  {:>5.2f} %\n", f.name, f.stages,
             f.path_stages, f.points, kib, f.build_ms, f.query_median_us, f.query_worst_us, 100 * f.bound);
}

std::vector<Subject> subjects(const Effort& effort) {
  std::vector<Subject> out;
  for (const esg_profile::Application& application : esg_applications()) {
    out.push_back({.name = std::string(application.name),
                   .model = model_of(application),
                   .slo_ms = application.minimum_ms(),
                   .path_stages = application.stages.size(),
                   .builds = effort.quick ? 1u : 15u,
                   .turns = effort.quick ? 1u : 3u});
  }
  for (const std::size_t stages : {50u, 500u, 5'000u}) {
    RandomWorkflow made = random_model(stages);
    out.push_back({.name = "random series-parallel",
                   .model = std::move(made.model),
                   .slo_ms = made.minimum_ms,
                   .path_stages = made.path_stages,
                   .options = kLarge,
                   .builds = effort.quick || stages > 500 ? 1u : 3u,
                   .stages_max = effort.quick ? 50u : 500u,
                   .turns = effort.quick ? 1u : 3u});
  }
  return out;
}

}  // namespace

std::vector<FrontierFigures> measure_frontiers(const Effort& effort) {
  std::vector<FrontierFigures> out;
  print_head();
  for (const Subject& subject : subjects(effort)) {
    out.push_back(measure(subject));
    print(out.back());
  }
  return out;
}

}  // namespace sluice::bench
