// Candidate: one configuration a stage may run with, and what it takes. Every search of plan/ starts from these.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "base/money.h"
#include "domain/configuration.h"

namespace sluice::plan {

// REQUIRES: ms and cost are finite and not negative.
struct Candidate {
  Configuration configuration;
  double ms = 0;     // execution of the whole batch
  Dollars cost = 0;  // per invocation
  friend bool operator==(const Candidate&, const Candidate&) = default;
};
static_assert(sizeof(Candidate) == 32);

// One stage's candidates. Searches name a candidate by its position in this list.
using Candidates = std::vector<Candidate>;

// The one of a configuration; nullptr: none. REQUIRES: they are sorted by configuration.
[[nodiscard]] inline const Candidate* find(const Candidates& candidates, const Configuration& configuration) {
  const auto it =
      std::lower_bound(candidates.begin(), candidates.end(), configuration,
                       [](const Candidate& c, const Configuration& wanted) { return c.configuration < wanted; });
  return it != candidates.end() && it->configuration == configuration ? &*it : nullptr;
}

// The least configuration: the smallest batch, then the fewest slices, then the fewest vCPUs. REQUIRES: not empty.
[[nodiscard]] inline const Candidate& least(const Candidates& candidates) {
  return *std::min_element(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    const auto key = [](const Configuration& c) { return std::tuple(c.batch, c.slices, c.vcpu); };
    return key(a.configuration) < key(b.configuration);
  });
}

// The largest batch a search may plan with, usually the length of the queue.
using BatchCap = std::uint32_t;
inline constexpr BatchCap kNoBatchCap = std::numeric_limits<BatchCap>::max();

}  // namespace sluice::plan
