// SortedStages: a chain's candidates in flat arrays by ascending cost, with the sums that bound what is still to come.
// Built once per chain, profile and batch cap; ESG_1Q and the label search then walk it any number of times.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/candidate.h"

namespace sluice::plan {

class SortedStages {
 public:
  enum class Keep {
    all,     // every candidate within the batch cap: what ESG_1Q searches
    pareto,  // of those only the ones nobody dominates in (ms, cost)
  };
  SortedStages(std::span<const Candidates> stages, BatchCap batch_cap, Keep keep);

  // Three arrays of one length, by (cost, ms, configuration) ascending.
  struct Stage {
    std::span<const Dollars> cost;
    std::span<const double> ms;
    std::span<const std::uint32_t> candidate;  // position in the list the stage was built from
  };
  [[nodiscard]] std::size_t size() const { return start_.size() - 1; }
  [[nodiscard]] Stage stage(std::size_t i) const;
  // There is a stage, and each has a candidate. Otherwise no search finds a path.
  [[nodiscard]] bool complete() const { return complete_; }

  // Sums over stages i, i + 1, … to the last; 0 at size(). REQUIRES: complete().
  [[nodiscard]] double fastest_ms_from(std::size_t i) const { return fastest_ms_[i]; }
  [[nodiscard]] Dollars cheapest_from(std::size_t i) const { return cheapest_[i]; }
  [[nodiscard]] Dollars cost_of_fastest_from(std::size_t i) const { return cost_of_fastest_[i]; }

  // The time of a path that takes `ms` before stage i and goes on with the fastest candidates, added up in stage order
  // like any path: no other way to go on takes less, to the bit. REQUIRES: complete().
  [[nodiscard]] double fastest_finish_ms(std::size_t i, double ms) const {
    for (; i < size(); ++i) ms += fastest_[i];
    return ms;
  }

  // More than rounding can shift any sum along a path, far less than anybody cares about. The sums above are added up
  // in another order than the paths they bound, so blades compare with this slack and cut no path they should keep.
  [[nodiscard]] double ms_slack() const { return ms_slack_; }
  [[nodiscard]] Dollars cost_slack() const { return cost_slack_; }

 private:
  void add_stage(const Candidates& candidates, BatchCap batch_cap, Keep keep);
  void sum_up();

  std::vector<std::size_t> start_{0};  // stage i is [start_[i], start_[i + 1])
  std::vector<Dollars> cost_;
  std::vector<double> ms_;
  std::vector<std::uint32_t> candidate_;
  std::vector<double> fastest_;     // by stage
  std::vector<double> fastest_ms_;  // sums, as the next two
  std::vector<Dollars> cheapest_, cost_of_fastest_;
  double ms_slack_ = 0;
  Dollars cost_slack_ = 0;
  bool complete_ = false;
};

}  // namespace sluice::plan
