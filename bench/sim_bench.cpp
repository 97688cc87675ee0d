// What scheduling costs as the cluster grows, and how much memory a long run needs: `make bench-sim`. Load grows with
// the cluster, so that machines are equally busy. Times are the thread's CPU time of the whole run, simulator included.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string_view>

#include "bench/race.h"
#include "sim/world.h"
#include "spec/load.h"
#include "support/places.h"

namespace sluice::bench {
namespace {

constexpr std::uint32_t kInvokers[] = {16, 64, 256, 1'000};
constexpr std::uint32_t kListed = 16;  // in the experiment

Experiment relaxed_heavy() {
  const spec::Loaded loaded = spec::load(test::in_source("examples/esg/relaxed_heavy.yaml"));
  CHECK(loaded.document.has_value());
  return std::get<Experiment>(*loaded.document);
}

// So many invokers, as busy as those of the experiment.
Experiment scaled(std::uint32_t invokers) {
  Experiment out = relaxed_heavy();
  const double factor = static_cast<double>(kListed) / invokers;
  CHECK(out.cluster.nodes.size() == 1 && out.cluster.nodes[0].count == kListed);
  out.cluster.nodes[0].count = invokers;
  auto& gap = std::get<UniformGap>(out.workload.arrivals);
  gap.low = gap.low * factor;
  gap.high = gap.high * factor;
  out.workload.requests = std::max<std::uint64_t>(20'000, std::uint64_t{invokers} * 100);
  out.workload.warmup = 0;
  return out;
}

void measure(const Experiment& experiment, const std::string& scheduler, std::uint32_t invokers) {
  auto world = sim::World::make(experiment, {.scheduler = scheduler, .seed = 1});
  CHECK(world.ok());
  const Stopwatch stopwatch;
  const sim::RunResult result = (*world)->run();
  const double us = stopwatch.us();
  CHECK(!result.violation);
  const auto decisions = static_cast<double>(result.decisions);
  fmt::print("{:<10} {:>8} {:>8} {:>12.0f} {:>12.2f} {:>10.2f} {:>14.0f} {:>7.1f} %\n", scheduler, invokers,
             invokers * 7, decisions / us * 1e6, us / decisions, us / static_cast<double>(result.requests),
             static_cast<double>(result.requests) / us * 60e6, 100 * result.hit_rate());
}

double resident_mb() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

// One long run, looked at on its way.
void measure_memory(std::uint64_t requests) {
  Experiment experiment = relaxed_heavy();
  experiment.workload.requests = requests;
  experiment.workload.warmup = 0;
  fmt::print("\nMemory while requests pass, sluice on {}\n{:>12} {:>12}\n", experiment.name, "requests", "resident MB");
  std::uint64_t next = std::min<std::uint64_t>(100'000, requests), said = 0;
  sim::WorldOptions options{.scheduler = "sluice", .seed = 1};
  options.progress = [&](std::uint64_t passed) {
    if (passed >= said + 100'000) {
      said = passed;
      fmt::print(stderr, "\r{:>5.1f} %", 100.0 * static_cast<double>(passed) / static_cast<double>(requests));
    }
    if (passed < next) return;
    fmt::print("{:>12} {:>12.1f}\n", next, resident_mb());
    next *= 10;
  };
  auto world = sim::World::make(experiment, std::move(options));
  CHECK(world.ok());
  CHECK(!(*world)->run().violation);
  fmt::print(stderr, "\r       \r");
  fmt::print("{:>12} {:>12.1f}\n", requests, resident_mb());
}

int run(std::uint64_t memory_requests) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // rows appear as they are measured, also through a pipe
  fmt::print("{:<10} {:>8} {:>8} {:>12} {:>12} {:>10} {:>14} {:>9}\n", "scheduler", "invokers", "slices", "decisions/s",
             "µs/decision", "µs/request", "requests/min", "SLO hits");
  for (const char* scheduler : {"sluice", "best-fit", "esg", "fifo"}) {
    for (const std::uint32_t invokers : kInvokers) measure(scaled(invokers), scheduler, invokers);
  }
  if (memory_requests > 0) measure_memory(memory_requests);
  return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
  std::uint64_t memory_requests = 10'000'000;
  const std::string_view option = argc > 1 ? argv[1] : "";
  constexpr std::string_view kMemory = "--memory-requests=";
  if (option.starts_with(kMemory)) {
    const auto [end, error] =
        std::from_chars(option.data() + kMemory.size(), option.data() + option.size(), memory_requests);
    if (error == std::errc{} && end == option.data() + option.size() && argc == 2)
      return sluice::bench::run(memory_requests);
  } else if (argc == 1) {
    return sluice::bench::run(memory_requests);
  }
  fmt::print(stderr, "usage: bench_sim [--memory-requests=N]   (10000000; 0: leave that row out)\n");
  return 2;
}
