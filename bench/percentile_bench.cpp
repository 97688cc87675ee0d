// What a percentile costs: ESG's applications with objectives of 1.0 L at three loads, and the hits and dollars for
// percentiles of accepted requests from "as many as possible" down to half. The table is in docs/percentiles.md.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "sim/world.h"
#include "spec/load.h"

namespace {

using namespace sluice;

using Percentile = std::optional<double>;

sim::RunResult run(const std::string& load, Percentile percentile, std::uint64_t requests) {
  const spec::Loaded loaded = spec::load("examples/esg/moderate_" + load + ".yaml");
  Experiment experiment = std::get<Experiment>(*loaded.document);
  experiment.workload.requests = requests;
  experiment.workload.warmup = 2'000;
  for (Application& application : experiment.applications) application.objective.percentile = percentile;
  auto world = sim::World::make(experiment, {.scheduler = "sluice"});
  return (*world)->run();
}

void print(const std::string& load, Percentile percentile, const sim::RunResult& r) {
  const double accepted = static_cast<double>(r.requests - r.rejected);
  const auto share = [&](std::uint64_t count) { return 100 * static_cast<double>(count) / accepted; };
  const std::string asked = percentile ? std::to_string(static_cast<int>(*percentile)) : "none";
  std::printf("| %s | %s | %.1f | %.1f | %.1f | %.2f | %.0f |\n", load.c_str(), asked.c_str(), share(r.met),
              share(r.late), share(r.failed), 100 * static_cast<double>(r.rejected) / static_cast<double>(r.requests),
              1e6 * r.cost / accepted);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t requests = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
  std::printf("| load | percentile | met %% | late %% | given up %% | refused %% | µ$ a request |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const char* load : {"light", "normal", "heavy"}) {
    for (const Percentile percentile : {Percentile(), Percentile(99), Percentile(95), Percentile(90), Percentile(50)})
      print(load, percentile, run(load, percentile, requests));
  }
}
