// What planning costs: one table of every search on ESG's applications and of the frontiers behind ours, and a summary
// against the targets. `--quick` repeats little: to see that it works, not to quote.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <string_view>

#include "bench/plan_frontiers.h"
#include "bench/plan_searches.h"
#include "bench/race.h"

namespace sluice::bench {
namespace {

enum class Target { at_most, at_least };

void summarise(std::string_view what, double value, Target kind, double target, std::string_view unit) {
  const bool met = kind == Target::at_most ? value <= target : value >= target;
  fmt::print("  {:<82} {:>8.2f} {:<2}  target {} {:g} {:<2}  {}\n", what, value, unit,
             kind == Target::at_most ? "≤" : "≥", target, unit, met ? "ok" : "missed");
}

double geometric_mean(const std::vector<double>& values) {
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / static_cast<double>(values.size()));
}

void summarise(const SearchFigures& searches, const std::vector<FrontierFigures>& frontiers) {
  using enum Target;
  fmt::print("\nSummary\n");
  summarise("query, 3 stages × 256 configurations, queue 32, median over applications and SLOs",
            median(searches.three_stages_us), at_most, 10, "µs");
  summarise("ESG_1Q on 256 configurations over frontier, queue 32, geometric mean",
            geometric_mean(searches.three_stages_ratio), at_least, 300, "×");
  summarise("query, whole chain of 5 stages, queue 32, slowest SLO", largest(searches.five_stages_us), at_most, 20,
            "µs");
  double build = 0;
  for (const FrontierFigures& f : frontiers) {
    if (f.stages > 5) continue;
    build = std::max(build, f.build_ms);
  }
  summarise("build, slowest ESG application", build, at_most, 20, "ms");
  for (const FrontierFigures& f : frontiers) {
    if (f.stages != 500) continue;
    summarise("500-stage workflow: query, median over stages", f.query_median_us, at_most, 100, "µs");
    summarise("500-stage workflow: build", f.build_ms / 1e3, at_most, 2, "s");
    summarise("500-stage workflow: bound on the error of a plan", 100 * f.bound, at_most, 10, "%");
  }
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
  using namespace sluice::bench;
  const bool quick = argc == 2 && std::string_view(argv[1]) == "--quick";
  if (argc > 1 && !quick) {
    fmt::print(stderr, "usage: bench_plan [--quick]\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // rows appear as they are measured, also through a pipe
  const SearchFigures searches = race_searches({quick});
  summarise(searches, measure_frontiers({quick}));
}
