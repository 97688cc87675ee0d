// Brute force on chains: every path is looked at. The oracle of ESG_1Q, label search and frontier, and the scheduler
// part `brute-force`. It shares no code with what it checks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "plan/candidate.h"

namespace sluice::plan {

// Above this many paths (or assignments, tree_brute_force.h) brute force refuses: it would take seconds.
inline constexpr double kBruteForcePathsMax = 1e9;

struct ChainQuestion {
  std::span<const Candidates> stages;
  double budget_ms = 0;
  BatchCap batch_cap = kNoBatchCap;
};

struct ChosenPath {
  double ms = 0;  // both added up in stage order
  Dollars cost = 0;
  std::vector<std::uint32_t> candidates;  // by stage: position in its Candidates
  friend bool operator==(const ChosenPath&, const ChosenPath&) = default;
};

// The `k` best paths within budget and cap, ordered by cost, then ms, then candidates; fewer if there are fewer, none
// without stages. An error names the number of paths if there are too many. REQUIRES: k ≥ 1.
[[nodiscard]] Result<std::vector<ChosenPath>> brute_force(const ChainQuestion& question, std::size_t k);

// The best path of every first candidate that has one, in the same order.
[[nodiscard]] Result<std::vector<ChosenPath>> brute_force_per_first(const ChainQuestion& question);

}  // namespace sluice::plan
