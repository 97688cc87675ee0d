// Experiment and workload as plain data: what `sluice sim` runs. Defaults are those of docs/documents.md.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/application.h"
#include "domain/cluster.h"

namespace sluice {

// Arrival processes. Rates are requests per second over all applications.
struct UniformGap {
  Duration low, high;
  friend bool operator==(const UniformGap&, const UniformGap&) = default;
};
struct Poisson {
  double rate = 1;
  friend bool operator==(const Poisson&, const Poisson&) = default;
};
struct Renewal {  // gaps with the given coefficient of variation
  double rate = 1, cv = 1;
  friend bool operator==(const Renewal&, const Renewal&) = default;
};
struct OnOff {  // Poisson at two rates that alternate
  double on_rate = 1, off_rate = 0;
  Duration on, off;  // mean lengths, exponential
  friend bool operator==(const OnOff&, const OnOff&) = default;
};
struct Diurnal {  // rate · (1 + amplitude · sin(2π t / period))
  double rate = 1, amplitude = 0.5;
  Duration period = Duration::s(86'400);
  friend bool operator==(const Diurnal&, const Diurnal&) = default;
};
struct Listed {              // exactly these
  std::vector<Duration> at;  // since the start, ascending
  friend bool operator==(const Listed&, const Listed&) = default;
};
enum class TraceFormat { azure_functions_2019, azure_llm_2023 };
struct Trace {
  TraceFormat format = TraceFormat::azure_functions_2019;
  std::string file;
  double time_scale = 1;                       // > 1 plays slower
  double rate_scale = 1;                       // > 1 more requests, < 1 fewer
  std::map<std::string, std::string> mapping;  // trace function → application; else by hash
  friend bool operator==(const Trace&, const Trace&) = default;
};
using Arrivals = std::variant<UniformGap, Poisson, Renewal, OnOff, Diurnal, Trace, Listed>;

struct Workload {
  Arrivals arrivals;
  std::map<std::string, double> mix;  // application → weight; empty: uniform
  std::uint64_t requests = 20'000;    // without warm-up
  std::uint64_t warmup = 2'000;
  friend bool operator==(const Workload&, const Workload&) = default;
};

// From this time on all executions take so many times as long, until the next: a machine that is shared with others.
struct Slowdown {
  Duration at;
  double factor = 1;  // not below 1
  friend bool operator==(const Slowdown&, const Slowdown&) = default;
};

enum class NoiseLaw { normal, log_normal };
struct Noise {
  double sigma = 0;                 // relative standard deviation
  NoiseLaw law = NoiseLaw::normal;  // cut at 3 sigma; log-normal ones have the same mean and are not cut
  double straggler_probability = 0;
  double straggler_factor = 1.5;
  double drift_per_minute = 0;  // times grow by so much of what they were at first, away from the profile,
  double drift_max = 1;         // up to this
  std::vector<Slowdown> slow;   // by time
  // Of functions with these names, in all applications; the others take what their profiles say. Empty: of all.
  std::vector<std::string> functions;
  [[nodiscard]] bool is_of(const std::string& function) const {
    return functions.empty() || std::find(functions.begin(), functions.end(), function) != functions.end();
  }
  friend bool operator==(const Noise&, const Noise&) = default;
};

struct Transfer {
  double local_bytes_per_s = 4e9;
  double remote_bytes_per_s = 125e6;
  Duration local_delay = Duration::ms(0.5);
  Duration remote_delay = Duration::ms(5);
  friend bool operator==(const Transfer&, const Transfer&) = default;
  void visit(auto& archive) { archive(local_bytes_per_s, remote_bytes_per_s, local_delay, remote_delay); }
};

enum class InstanceMode { warm, counted };
enum class SchedulerTime { native, paper, none };
enum class Billing { held, exec };

struct Experiment {
  std::string name;
  Cluster cluster;
  std::vector<Application> applications;
  std::optional<double> slo_scale;  // times the batch-1 minimum-configuration time; absent: as deployed
  Workload workload;
  std::optional<Noise> noise;  // absent: the profiles' own
  Transfer transfer;
  Duration network_delay;  // of a message between scheduler and invoker, one way
  InstanceMode instances = InstanceMode::warm;
  SchedulerTime scheduler_time = SchedulerTime::native;
  Billing billing = Billing::held;
  std::map<std::string, std::map<std::string, double>> parameters;  // scheduler → name → value
  std::vector<std::string> schedulers;
  std::optional<Prices> prices;  // absent: the applications' own
  std::uint64_t seed = 1;
  friend bool operator==(const Experiment&, const Experiment&) = default;
};

}  // namespace sluice
