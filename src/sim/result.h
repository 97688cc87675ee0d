// What a simulated run comes to.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/events.h"
#include "sim/latency_histogram.h"

namespace sluice::sim {

struct ApplicationResult {
  std::string application;
  std::uint64_t requests = 0, met = 0;
};

struct Violation {
  std::uint64_t event = 0;
  std::string invariant;
  std::vector<std::string> last_events;
};

struct RunResult {
  std::string scheduler;
  std::uint64_t seed = 0;
  // After warm-up: requests = met + late + rejected + failed + cancelled.
  std::uint64_t requests = 0, met = 0, late = 0, rejected = 0, failed = 0, cancelled = 0;
  std::vector<ApplicationResult> applications;
  LatencyHistogram latency;  // of finished ones
  double cost = 0;           // dollars
  std::uint64_t batches = 0, members = 0, decisions = 0, events = 0;
  std::array<std::uint64_t, std::variant_size_v<Event>> events_by_kind{};  // by the kind's place in Event
  LatencyHistogram thinking;                            // the scheduler's time charged for a batch, warm-up included
  std::uint64_t expansions = 0, states = 0;             // of searches that led to batches
  std::uint64_t cold_starts = 0;                        // instances raised after warm-up
  std::uint64_t cold_batches = 0;                       // that waited for a load, after warm-up
  std::uint64_t planned = 0, configuration_misses = 0;  // batches, warm-up included
  double idle_warm_gb_s = 0;                            // memory of instances that did nothing, after warm-up
  double vcpu_seconds = 0, slice_seconds = 0;           // held
  double seconds = 0;                                   // of virtual time, from the first to the last measured answer
  double vcpu_capacity = 0, slice_capacity = 0;         // of the cluster
  std::uint64_t hash = 0;                               // of all commands
  std::optional<Violation> violation;

  [[nodiscard]] double hit_rate() const {
    return requests == 0 ? 0 : static_cast<double>(met) / static_cast<double>(requests);
  }
  [[nodiscard]] double worst_hit_rate() const {
    double worst = 1;
    for (const ApplicationResult& a : applications) {
      if (a.requests > 0) worst = std::min(worst, static_cast<double>(a.met) / static_cast<double>(a.requests));
    }
    return worst;
  }
  [[nodiscard]] double cost_per_request() const { return requests == 0 ? 0 : cost / static_cast<double>(requests); }
  [[nodiscard]] double cost_per_met() const { return met == 0 ? 0 : cost / static_cast<double>(met); }
  // The share of batches with a configuration fixed earlier that could not use it as planned.
  [[nodiscard]] double configuration_miss_rate() const {
    return planned == 0 ? 0 : static_cast<double>(configuration_misses) / static_cast<double>(planned);
  }
  [[nodiscard]] double mean_batch() const {
    return batches == 0 ? 0 : static_cast<double>(members) / static_cast<double>(batches);
  }
};

}  // namespace sluice::sim
