#include "report/sim_figures.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"

namespace sluice::report {
namespace {

using Json = nlohmann::ordered_json;

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
          {"cold_starts", run.cold_starts},
          {"batches", run.batches},
          {"mean_batch", run.mean_batch()},
          {"utilisation",
           {{"vcpu", run.vcpu_seconds / span / run.vcpu_capacity},
            {"vgpu", run.slice_capacity > 0 ? run.slice_seconds / span / run.slice_capacity : 0}}},
          {"idle_warm_gb_s", run.idle_warm_gb_s},
          {"decisions", run.decisions},
          {"configuration_miss_rate", run.configuration_miss_rate()},
          {"applications", applications},
          {"hash", fmt::format("{:016x}", run.hash)}};
}

template <class Number>
Spread spread(const Runs& runs, const Number& number) {
  std::vector<double> numbers;
  for (const sim::RunResult* run : runs) numbers.push_back(number(*run));
  return spread_of(numbers);
}

}  // namespace

Json figures_json(const Runs& runs) {
  if (runs.size() == 1) return run_json(*runs.front());
  Json out = run_json(*runs.front());
  out.erase("seed");
  for (const char* name :
       {"requests", "met", "late", "rejected", "failed", "cancelled", "slo_hit_rate", "slo_hit_rate_worst_application",
        "goodput_per_s", "cost", "cost_per_request", "cost_per_met_request", "cold_starts", "batches", "mean_batch",
        "idle_warm_gb_s", "decisions", "configuration_miss_rate"}) {
    double sum = 0;
    for (const sim::RunResult* run : runs) sum += run_json(*run)[name].get<double>();
    out[name] = sum / static_cast<double>(runs.size());
  }
  Json list = Json::array();
  for (const sim::RunResult* run : runs) list.push_back(run_json(*run));
  out["ci95"] = {{"slo_hit_rate", spread(runs, [](const sim::RunResult& r) { return r.hit_rate(); }).half},
                 {"cost_per_met_request", spread(runs, [](const sim::RunResult& r) { return r.cost_per_met(); }).half}};
  out["runs"] = std::move(list);
  out["hash"] = fmt::format("{:016x}", hash_of(runs));
  return out;
}

std::uint64_t hash_of(const Runs& runs) {
  if (runs.size() == 1) return runs.front()->hash;
  Hash hash;
  for (const sim::RunResult* run : runs) hash.add(run->hash);
  return hash.value();
}

std::vector<Figure> figures(const Runs& runs) {
  using R = const sim::RunResult&;
  const auto span = [](R r) { return r.seconds > 0 ? r.seconds : 1; };
  std::vector<Figure> out;
  const auto add = [&](const char* heading, int digits, double scale, const auto& number) {
    Spread s = spread(runs, number);
    out.push_back({heading, {s.mean * scale, s.half * scale}, digits});
  };
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  add("hits %", 2, 100, [](R r) { return r.hit_rate(); });
  add("worst app %", 2, 100, [](R r) { return r.worst_hit_rate(); });
  add("goodput /s", 1, 1, [&](R r) { return count(r.met) / span(r); });
  add("p50 ms", 0, 1, [](R r) { return r.latency.quantile_ms(0.5); });
  add("p95 ms", 0, 1, [](R r) { return r.latency.quantile_ms(0.95); });
  add("p99 ms", 0, 1, [](R r) { return r.latency.quantile_ms(0.99); });
  add("µ$/request", 1, 1e6, [](R r) { return r.cost_per_request(); });
  add("µ$/met", 1, 1e6, [](R r) { return r.cost_per_met(); });
  add("vCPU %", 0, 100, [&](R r) { return r.vcpu_seconds / span(r) / r.vcpu_capacity; });
  add("vGPU %", 0, 100, [&](R r) { return r.slice_capacity > 0 ? r.slice_seconds / span(r) / r.slice_capacity : 0; });
  add("cold", 0, 1, [&](R r) { return count(r.cold_starts); });
  add("idle GB·s", 0, 1, [](R r) { return r.idle_warm_gb_s; });
  add("mean batch", 2, 1, [](R r) { return r.mean_batch(); });
  add("rejected", 0, 1, [&](R r) { return count(r.rejected); });
  add("failed", 0, 1, [&](R r) { return count(r.failed); });
  return out;
}

std::string to_string(const Figure& figure) {
  const auto& [mean, half] = figure.value;
  return half > 0 ? fmt::format("{:.{}f} ± {:.{}f}", mean, figure.digits, half, figure.digits)
                  : fmt::format("{:.{}f}", mean, figure.digits);
}

}  // namespace sluice::report
