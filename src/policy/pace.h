// Pace: how batches of a queue went lately, against what its planner believes. Plans of what was learned take a while
// to be made, and machines that are shared slow down at once. Few executions and single stragglers say nothing. State
// of the core, one for each queue.
#pragma once
#include <algorithm>
#include <vector>

#include "base/archive.h"
#include "profile/window.h"

namespace sluice::policy {

class Pace {
 public:
  // An execution took so many times as long as believed, and the batch so much longer than its execution.
  void ran(double slower, double beside_ms) {
    slower_.push(slower);
    beside_ms_.push(beside_ms);
  }
  // The planner believes something else from now on.
  void revised() { slower_ = {}; }

  // How many times as long executions take.
  [[nodiscard]] double slower() const { return std::clamp(slower_.adjust(1, kVotes), 1 / kMost, kMost); }
  // How many times as long the slowest take, at the most: 99 of 100 of those that were seen take no longer. For
  // promises, which a mean would break half of the time. 1 until there are a few.
  [[nodiscard]] double slowest() const {
    constexpr double kShare = 0.99;
    const auto sorted = slower_.sorted();
    if (sorted.size() < kVotes) return 1;
    const double at = kShare * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const double next = below + 1 < sorted.size() ? sorted[below + 1] : sorted[below];
    const double quantile = sorted[below] + (at - static_cast<double>(below)) * (next - sorted[below]);
    return std::clamp(quantile, 1 / kMost, kMost);
  }
  // What batches take besides executing and moving inputs: on the way to a worker, waiting for a CPU.
  [[nodiscard]] double beside_ms() const { return beside_ms_.adjust(0, kVotes); }

  void visit(Archive& archive) {
    visit(archive, slower_);
    visit(archive, beside_ms_);
  }

 private:
  static constexpr std::size_t kWindow = 16, kVotes = 4;
  static constexpr double kMost = 4;  // more than that is for plans to know
  using Window = profile::Window<kWindow>;

  static void visit(Archive& archive, Window& window) {
    std::vector<double> values(window.recent().begin(), window.recent().end());
    archive(values);
    if (!archive.is_loading()) return;
    window = {};
    for (const double value : values) window.push(value);
  }

  Window slower_, beside_ms_;
};

}  // namespace sluice::policy
