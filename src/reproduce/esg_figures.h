// What is kept of one simulated run of ESG's evaluation, and the metrics that rows are made of.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/spread.h"
#include "sim/observer.h"
#include "sim/result.h"

namespace sluice::reproduce {

inline constexpr std::size_t kTenths = 10;

struct ApplicationFigures {
  std::string application;
  double hit_rate = 0;
  double p50_of_slo = 0, p95_of_slo = 0;  // latency over objective, of finished requests
  std::array<double, kTenths> tenths{};   // the mean of the same, over the course of the run
};

struct Figures {
  double hit_rate = 0, worst_hit_rate = 0;
  std::optional<double> cost_per_met;  // dollars; nothing if nobody was met
  double cost_per_request = 0;
  double p95_ms = 0;
  std::optional<double> configuration_miss_rate;  // nothing for schedulers that do not plan ahead
  double search_us = 0, search_us_p50 = 0, search_us_p90 = 0, search_us_p95 = 0, search_us_p99 = 0,
         search_us_max = 0;  // the scheduler's time charged for a batch
  double expansions = 0;     // for a batch
  double mean_batch = 0;
  double slice_share = 0;  // of the cluster's slices, held
  double cold_starts = 0, idle_warm_gb_s = 0;
  std::vector<ApplicationFigures> applications;
  [[nodiscard]] const ApplicationFigures& of(std::string_view application) const;  // REQUIRES: it is there
};

// Latencies as shares of the objective, by application.
class LatencyShares final : public sim::Observer {
 public:
  LatencyShares(std::size_t applications, std::uint64_t warmup, std::uint64_t requests);
  void request(const sim::RequestRow& row) override;
  void action(const sim::ActionRow&) override {}
  void add_to(Figures& figures) const;

 private:
  static constexpr double kBinsPerObjective = 500;
  static constexpr std::size_t kBins = 10'000;  // the last has all that is slower
  struct Shares {
    std::vector<std::uint32_t> counts = std::vector<std::uint32_t>(kBins);
    std::array<double, kTenths> sum{}, number{};
    [[nodiscard]] double quantile(double q) const;
  };
  std::uint64_t warmup_, requests_;
  std::vector<Shares> shares_;
};

[[nodiscard]] Figures figures_of(const sim::RunResult& run, const LatencyShares& latencies);

struct Metric {
  std::string_view name;  // as in the rows
  std::optional<double> (*of)(const Figures&);
};
[[nodiscard]] std::span<const Metric> metrics();
// REQUIRES: there is one.
[[nodiscard]] const Metric& metric(std::string_view name);

// Over streams; nothing if one of them has no number.
[[nodiscard]] std::optional<Spread> spread_over(std::span<const Figures> streams, const Metric& metric);
// Every number its mean. REQUIRES: not empty.
[[nodiscard]] Figures mean_of(std::span<const Figures> streams);

}  // namespace sluice::reproduce
