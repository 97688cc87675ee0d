#include "reproduce/esg_figures.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::reproduce {
namespace {

using F = const Figures&;
using Number = std::optional<double>;

constexpr std::array kMetrics{
    Metric{"slo_hit_rate", [](F f) -> Number { return f.hit_rate; }},
    Metric{"slo_hit_rate_worst_application", [](F f) -> Number { return f.worst_hit_rate; }},
    Metric{"cost_per_met_request", [](F f) -> Number { return f.cost_per_met; }},
    Metric{"cost_per_request", [](F f) -> Number { return f.cost_per_request; }},
    Metric{"p95_ms", [](F f) -> Number { return f.p95_ms; }},
    Metric{"configuration_miss_rate", [](F f) -> Number { return f.configuration_miss_rate; }},
    Metric{"search_us", [](F f) -> Number { return f.search_us; }},
    Metric{"search_us_p50", [](F f) -> Number { return f.search_us_p50; }},
    Metric{"search_us_p90", [](F f) -> Number { return f.search_us_p90; }},
    Metric{"search_us_p99", [](F f) -> Number { return f.search_us_p99; }},
    Metric{"search_us_max", [](F f) -> Number { return f.search_us_max; }},
    Metric{"mean_batch", [](F f) -> Number { return f.mean_batch; }},
    Metric{"vgpu_share", [](F f) -> Number { return f.slice_share; }},
    Metric{"idle_warm_gb_s", [](F f) -> Number { return f.idle_warm_gb_s; }},
    Metric{"cold_starts", [](F f) -> Number { return f.cold_starts; }},
};

void add(std::optional<double>& sum, const std::optional<double>& number, double weight) {
  if (sum && number) {
    *sum += *number * weight;
  } else {
    sum.reset();
  }
}

void add(ApplicationFigures& sum, const ApplicationFigures& a, double weight) {
  sum.application = a.application;
  sum.hit_rate += a.hit_rate * weight;
  sum.p50_of_slo += a.p50_of_slo * weight;
  sum.p95_of_slo += a.p95_of_slo * weight;
  for (std::size_t i = 0; i < kTenths; ++i) sum.tenths[i] += a.tenths[i] * weight;
}

}  // namespace

const ApplicationFigures& Figures::of(std::string_view application) const {
  const auto it = std::find_if(applications.begin(), applications.end(),
                               [&](const ApplicationFigures& a) { return a.application == application; });
  CHECK(it != applications.end());
  return *it;
}

LatencyShares::LatencyShares(std::size_t applications, std::uint64_t warmup, std::uint64_t requests)
    : warmup_(warmup), requests_(requests), shares_(applications) {}

void LatencyShares::request(const sim::RequestRow& row) {
  if (!row.measured || (row.ending != sim::Ending::met && row.ending != sim::Ending::late)) return;
  Shares& shares = shares_[row.application];
  const double share = (row.finish - row.arrival).to_ms() / (row.deadline - row.arrival).to_ms();
  ++shares.counts[std::min(kBins - 1, static_cast<std::size_t>(share * kBinsPerObjective))];
  const std::size_t tenth = std::min(kTenths - 1, (row.id.value() - warmup_) * kTenths / requests_);
  shares.sum[tenth] += share;
  shares.number[tenth] += 1;
}

// The middle of the bin.
double LatencyShares::Shares::quantile(double q) const {
  std::uint64_t all = 0, seen = 0;
  for (const std::uint32_t count : counts) all += count;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    seen += counts[i];
    if (seen > 0 && static_cast<double>(seen) >= q * static_cast<double>(all))
      return (static_cast<double>(i) + 0.5) / kBinsPerObjective;
  }
  return 0;
}

void LatencyShares::add_to(Figures& figures) const {
  for (std::size_t a = 0; a < shares_.size(); ++a) {
    ApplicationFigures& out = figures.applications[a];
    out.p50_of_slo = shares_[a].quantile(0.5);
    out.p95_of_slo = shares_[a].quantile(0.95);
    for (std::size_t t = 0; t < kTenths; ++t) {
      out.tenths[t] = shares_[a].number[t] > 0 ? shares_[a].sum[t] / shares_[a].number[t] : 0;
    }
  }
}

Figures figures_of(const sim::RunResult& run, const LatencyShares& latencies) {
  const double batches = std::max(1.0, static_cast<double>(run.batches));
  Figures out{.hit_rate = run.hit_rate(),
              .worst_hit_rate = run.worst_hit_rate(),
              .cost_per_request = run.cost_per_request(),
              .p95_ms = run.latency.quantile_ms(0.95),
              .search_us = run.thinking.mean_ms() * 1e3,
              .search_us_p50 = run.thinking.quantile_ms(0.5) * 1e3,
              .search_us_p90 = run.thinking.quantile_ms(0.9) * 1e3,
              .search_us_p95 = run.thinking.quantile_ms(0.95) * 1e3,
              .search_us_p99 = run.thinking.quantile_ms(0.99) * 1e3,
              .search_us_max = run.thinking.quantile_ms(1) * 1e3,
              .expansions = static_cast<double>(run.expansions) / batches,
              .mean_batch = run.mean_batch(),
              .slice_share = run.seconds > 0 ? run.slice_seconds / run.seconds / run.slice_capacity : 0,
              .cold_starts = static_cast<double>(run.cold_starts),
              .idle_warm_gb_s = run.idle_warm_gb_s};
  if (run.met > 0) out.cost_per_met = run.cost_per_met();
  if (run.planned > 0) out.configuration_miss_rate = run.configuration_miss_rate();
  for (const sim::ApplicationResult& a : run.applications) {
    const double requests = std::max(1.0, static_cast<double>(a.requests));
    out.applications.push_back({.application = a.application, .hit_rate = static_cast<double>(a.met) / requests});
  }
  latencies.add_to(out);
  return out;
}

std::span<const Metric> metrics() {
  return kMetrics;
}

const Metric& metric(std::string_view name) {
  const auto it = std::find_if(kMetrics.begin(), kMetrics.end(), [&](const Metric& m) { return m.name == name; });
  CHECK(it != kMetrics.end());
  return *it;
}

std::optional<Spread> spread_over(std::span<const Figures> streams, const Metric& metric) {
  std::vector<double> numbers;
  for (const Figures& stream : streams) {
    const std::optional<double> number = metric.of(stream);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return spread_of(numbers);
}

Figures mean_of(std::span<const Figures> streams) {
  CHECK(!streams.empty());
  const double weight = 1 / static_cast<double>(streams.size());
  Figures out{.cost_per_met = 0, .configuration_miss_rate = 0};
  out.applications.resize(streams.front().applications.size());
  for (const Figures& f : streams) {
    out.hit_rate += f.hit_rate * weight;
    out.worst_hit_rate += f.worst_hit_rate * weight;
    add(out.cost_per_met, f.cost_per_met, weight);
    out.cost_per_request += f.cost_per_request * weight;
    out.p95_ms += f.p95_ms * weight;
    add(out.configuration_miss_rate, f.configuration_miss_rate, weight);
    out.search_us += f.search_us * weight;
    out.search_us_p50 += f.search_us_p50 * weight;
    out.search_us_p90 += f.search_us_p90 * weight;
    out.search_us_p95 += f.search_us_p95 * weight;
    out.search_us_p99 += f.search_us_p99 * weight;
    out.search_us_max += f.search_us_max * weight;
    out.expansions += f.expansions * weight;
    out.mean_batch += f.mean_batch * weight;
    out.slice_share += f.slice_share * weight;
    out.cold_starts += f.cold_starts * weight;
    out.idle_warm_gb_s += f.idle_warm_gb_s * weight;
    for (std::size_t a = 0; a < f.applications.size(); ++a) add(out.applications[a], f.applications[a], weight);
  }
  return out;
}

}  // namespace sluice::reproduce
