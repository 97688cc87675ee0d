// `sluice sim`: an experiment in virtual time, several schedulers side by side.
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "sim/prepare.h"
#include "sim/world.h"
#include "spec/load.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Task {
  std::string scheduler;
  std::uint64_t seed;
};

Json run_json(const sim::RunResult& run) {
  Json applications = Json::array();
  for (const sim::ApplicationResult& a : run.applications) {
    applications.push_back({{"application", a.application}, {"requests", a.requests}, {"met", a.met}});
  }
  const double span = run.seconds > 0 ? run.seconds : 1;
  return {{"scheduler", run.scheduler},
          {"seed", run.seed},
          {"requests", run.requests},
          {"met", run.met},
          {"late", run.late},
          {"rejected", run.rejected},
          {"failed", run.failed},
          {"cancelled", run.cancelled},
          {"slo_hit_rate", run.hit_rate()},
          {"slo_hit_rate_worst_application", run.worst_hit_rate()},
          {"goodput_per_s", static_cast<double>(run.met) / span},
          {"latency_ms",
           {{"p50", run.latency.quantile_ms(0.5)},
            {"p95", run.latency.quantile_ms(0.95)},
            {"p99", run.latency.quantile_ms(0.99)},
            {"mean", run.latency.mean_ms()}}},
          {"cost", run.cost},
          {"cost_per_request", run.cost_per_request()},
          {"cost_per_met_request", run.cost_per_met()},
          {"batches", run.batches},
          {"mean_batch", run.mean_batch()},
          {"utilisation",
           {{"vcpu", run.vcpu_seconds / span / run.vcpu_capacity},
            {"vgpu", run.slice_capacity > 0 ? run.slice_seconds / span / run.slice_capacity : 0}}},
          {"decisions", run.decisions},
          {"configuration_miss_rate", run.configuration_miss_rate()},
          {"applications", applications},
          {"hash", fmt::format("{:016x}", run.hash)}};
}

// The mean of a number over runs, and half of its 95 % interval.
struct Spread {
  double mean = 0, half = 0;
};
template <class Number>
Spread spread(const std::vector<const sim::RunResult*>& runs, const Number& number) {
  Spread out;
  const auto n = static_cast<double>(runs.size());
  for (const sim::RunResult* run : runs) out.mean += number(*run) / n;
  if (runs.size() < 2) return out;
  double squares = 0;
  for (const sim::RunResult* run : runs) squares += (number(*run) - out.mean) * (number(*run) - out.mean);
  // Student's t at 97.5 % for few runs; beyond 30 the normal value.
  constexpr double kT[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23,
                           2.20,  2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09};
  const double t = runs.size() - 2 < std::size(kT) ? kT[runs.size() - 2] : 1.96;
  out.half = t * std::sqrt(squares / (n - 1) / n);
  return out;
}

Json scheduler_json(const std::vector<const sim::RunResult*>& runs) {
  if (runs.size() == 1) return run_json(*runs.front());
  Json out = run_json(*runs.front());
  out.erase("seed");
  for (const char* name : {"requests", "met", "late", "rejected", "failed", "cancelled", "slo_hit_rate",
                           "slo_hit_rate_worst_application", "goodput_per_s", "cost", "cost_per_request",
                           "cost_per_met_request", "batches", "mean_batch", "decisions", "configuration_miss_rate"}) {
    double sum = 0;
    for (const sim::RunResult* run : runs) sum += run_json(*run)[name].get<double>();
    out[name] = sum / static_cast<double>(runs.size());
  }
  Hash hash;
  Json list = Json::array();
  for (const sim::RunResult* run : runs) {
    hash.add(run->hash);
    list.push_back(run_json(*run));
  }
  out["ci95"] = {{"slo_hit_rate", spread(runs, [](const sim::RunResult& r) { return r.hit_rate(); }).half},
                 {"cost_per_met_request", spread(runs, [](const sim::RunResult& r) { return r.cost_per_met(); }).half}};
  out["runs"] = std::move(list);
  out["hash"] = fmt::format("{:016x}", hash.value());
  return out;
}

std::string with_interval(const Spread& s, double scale, int digits) {
  return s.half > 0 ? fmt::format("{:.{}f} ± {:.{}f}", s.mean * scale, digits, s.half * scale, digits)
                    : fmt::format("{:.{}f}", s.mean * scale, digits);
}

void print_table(const std::vector<std::vector<const sim::RunResult*>>& schedulers) {
  Table table({"scheduler", "hits %", "worst app %", "goodput /s", "p50 ms", "p95 ms", "p99 ms", "µ$/request", "µ$/met",
               "vCPU %", "vGPU %", "mean batch", "rejected", "failed"});
  for (const auto& runs : schedulers) {
    const sim::RunResult& one = *runs.front();
    const double span = one.seconds > 0 ? one.seconds : 1;
    const auto number = [&](const auto& f, double scale, int digits) {
      return with_interval(spread(runs, f), scale, digits);
    };
    using R = const sim::RunResult&;
    table.add(
        {one.scheduler, number([](R r) { return r.hit_rate(); }, 100, 2),
         number([](R r) { return r.worst_hit_rate(); }, 100, 2),
         number([&](R r) { return static_cast<double>(r.met) / span; }, 1, 1),
         number([](R r) { return r.latency.quantile_ms(0.5); }, 1, 0),
         number([](R r) { return r.latency.quantile_ms(0.95); }, 1, 0),
         number([](R r) { return r.latency.quantile_ms(0.99); }, 1, 0),
         number([](R r) { return r.cost_per_request(); }, 1e6, 1), number([](R r) { return r.cost_per_met(); }, 1e6, 1),
         number([&](R r) { return r.vcpu_seconds / span / r.vcpu_capacity; }, 100, 0),
         number([&](R r) { return r.slice_capacity > 0 ? r.slice_seconds / span / r.slice_capacity : 0; }, 100, 0),
         number([](R r) { return r.mean_batch(); }, 1, 2), fmt::format("{}", one.rejected),
         fmt::format("{}", one.failed)});
  }
  fmt::print("{}", table.text());
  for (const auto& runs : schedulers) {
    Hash hash;
    for (const sim::RunResult* run : runs) hash.add(run->hash);
    fmt::print("{}: hash of all commands {:016x}\n", runs.front()->scheduler,
               runs.size() == 1 ? runs.front()->hash : hash.value());
  }
}

// What the runs of each scheduler share. Everything that can be wrong is said before the first event.
Result<std::map<std::string, policy::Prepared>> prepare_all(const Experiment& experiment,
                                                            const std::vector<std::string>& names,
                                                            const std::string& trace) {
  std::map<std::string, policy::Prepared> out;
  for (const std::string& name : names) {
    const auto world = sim::World::make(experiment, {.scheduler = name, .seed = experiment.seed}, trace);
    if (!world) return world.error();
    auto made = sim::prepare(experiment, name);
    if (!made) return made.error();
    out.emplace(name, std::move(made).value());
  }
  return out;
}

}  // namespace

int sim_command(const SimOptions& options) {
  const spec::Loaded loaded = spec::load(options.file);
  for (const spec::Diagnostic& d : loaded.diagnostics.sorted()) fmt::print(stderr, "{}\n", to_string(d));
  if (!loaded.document) return 1;
  const auto* document = std::get_if<Experiment>(&*loaded.document);
  if (document == nullptr) return failed(fmt::format("{} is no experiment; sluice sim needs one", options.file));
  Experiment experiment = *document;
  if (options.requests) experiment.workload.requests = *options.requests;
  if (options.seed) experiment.seed = *options.seed;
  std::string trace;
  if (const auto* from = std::get_if<Trace>(&experiment.workload.arrivals)) {
    auto text = spec::read_from_disk(from->file);
    if (!text) return failed(fmt::format("workload.file: {}", text.error().message));
    trace = std::move(text).value();
  }
  std::vector<std::string> names = options.schedulers.empty() ? experiment.schedulers : options.schedulers;
  if (names.empty()) names = {"sluice"};
  std::vector<Task> tasks;
  for (const std::string& name : names) {
    for (int r = 0; r < options.repeat; ++r) tasks.push_back({name, experiment.seed + static_cast<std::uint64_t>(r)});
  }
  const auto prepared = prepare_all(experiment, names, trace);
  if (!prepared) return failed(fmt::format("{}: {}", options.file, prepared.error().message));
  const std::uint64_t each = experiment.workload.requests + experiment.workload.warmup;
  Progress progress(fmt::format("simulating {}", experiment.name), each * tasks.size());
  std::vector<sim::RunResult> results(tasks.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      std::uint64_t seen = 0;
      sim::WorldOptions world_options{
          .scheduler = tasks[i].scheduler, .seed = tasks[i].seed, .prepared = prepared->at(tasks[i].scheduler)};
      world_options.progress = [&](std::uint64_t requests) {
        progress.add(requests - seen);
        seen = requests;
      };
      auto world = sim::World::make(experiment, std::move(world_options), trace);
      results[i] = (*world)->run();
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t i = 1; i < std::min(cores, tasks.size()); ++i) threads.emplace_back(work);
    work();
  }
  std::vector<std::vector<const sim::RunResult*>> grouped;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].violation)
      return failed(
          fmt::format("{}: seed {}: {}", results[i].scheduler, results[i].seed, results[i].violation->invariant));
    if (i % static_cast<std::size_t>(options.repeat) == 0) grouped.emplace_back();
    grouped.back().push_back(&results[i]);
  }
  if (options.json) {
    Json schedulers = Json::array();
    for (const auto& runs : grouped) schedulers.push_back(scheduler_json(runs));
    fmt::print("{}\n",
               Json{{"experiment", experiment.name}, {"seed", experiment.seed}, {"schedulers", schedulers}}.dump(2));
  } else {
    fmt::print("{}: {} requests after {} of warm-up, seed {}{}\n\n", bold(experiment.name),
               experiment.workload.requests, experiment.workload.warmup, experiment.seed,
               options.repeat > 1 ? fmt::format(" and the {} after it; 95 % intervals", options.repeat - 1) : "");
    print_table(grouped);
  }
  return 0;
}

}  // namespace sluice::cli
