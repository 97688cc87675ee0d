#include "plan/pareto.h"

#include <algorithm>
#include <tuple>

namespace sluice::plan {
namespace {

auto by_time(const Candidate& c) {
  return std::tie(c.ms, c.cost, c.configuration);
}

// Whoever dominates comes first in this order, and the configuration is compared batch, vCPUs, slices, device.
Candidates sorted_by_time(std::span<const Candidate> candidates) {
  Candidates sorted(candidates.begin(), candidates.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Candidate& a, const Candidate& b) { return by_time(a) < by_time(b); });
  return sorted;
}

bool runs_whenever(const Configuration& a, const Configuration& b) {
  return a.device == b.device && a.batch <= b.batch && a.vcpu <= b.vcpu && a.slices <= b.slices;
}

}  // namespace

Candidates pareto(std::span<const Candidate> candidates) {
  Candidates kept;
  for (const Candidate& c : sorted_by_time(candidates)) {
    if (kept.empty() || c.cost < kept.back().cost) kept.push_back(c);
  }
  return kept;
}

Candidates available_pareto(std::span<const Candidate> candidates) {
  Candidates kept;
  for (const Candidate& c : sorted_by_time(candidates)) {
    const bool dominated = std::any_of(kept.begin(), kept.end(), [&](const Candidate& k) {
      return k.cost <= c.cost && runs_whenever(k.configuration, c.configuration);  // k.ms ≤ c.ms: it came first
    });
    if (!dominated) kept.push_back(c);
  }
  return kept;
}

}  // namespace sluice::plan
