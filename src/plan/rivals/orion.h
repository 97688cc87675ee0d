// Orion's search (OSDI 2022) as ESG's evaluation runs it: best first from the least configuration everywhere, one knob
// of one stage one step up at a time, for the cheapest plan of all stages whose 95th percentile meets the objective.
// Used by the scheduler `orion`. Anytime: it stops after a number of states with the best it has seen.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "plan/workflow_model.h"

namespace sluice::plan {

struct OrionOptions {
  double sigma = 0.05;            // relative spread of every stage's time
  double quantile = 1.645;        // standard deviations above the mean: P95
  std::size_t states_max = 5000;  // taken from the open list
  bool stop_first = false;        // end at the first state that meets the budget
};

struct OrionPlan {
  std::vector<std::uint32_t> candidates;  // by stage of the model
  double p95_ms = 0;
  Dollars cost = 0;
  std::uint64_t states = 0;  // taken from the open list
  bool feasible = false;     // else it has the lowest P95 seen
  friend bool operator==(const OrionPlan&, const OrionPlan&) = default;
};

// Memory that searches reuse; what is in it is their own business.
struct OrionWorkspace {
  struct State {
    double p95_ms;
    Dollars cost;
    std::uint64_t key;  // of the candidates of all stages
  };
  std::vector<State> states;
  std::vector<std::uint32_t> chosen;                   // the candidates of each state, stage by stage
  std::vector<double> means, squares;                  // of the times along each path of each state
  std::vector<std::pair<double, std::uint32_t>> open;  // a heap by P95 · cost, then age
  std::vector<std::uint64_t> seen;                     // a hash table of keys
};

// A workflow prepared for searches.
class OrionSearch {
 public:
  // Latency is that of the slowest path. Caveats: a workflow of more than 16 paths is planned as if all its stages ran
  // one after another, an upper bound; a knob that can only be raised together with another stays as it is.
  OrionSearch(const WorkflowModel& model, const OrionOptions& options);

  // Batches up to `cap`, unless the least configuration has a larger one. P95 = Σ t + quantile · sqrt(Σ (sigma · t)²).
  // Of equal states the one found first counts. REQUIRES: the budget is not NaN.
  [[nodiscard]] OrionPlan find(double budget_ms, BatchCap cap, OrionWorkspace& workspace) const;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Choice {
    double ms = 0;
    Dollars cost = 0;
    std::uint64_t digit = 0;  // its part of a key
    BatchCap batch = 0;
    std::array<std::uint32_t, 3> up{kNone, kNone, kNone};  // the candidate one step up by knob
  };
  void add_stage(const ModelStage& stage);
  static void find_steps(const Candidates& candidates, std::vector<Choice>& choices);
  void number_keys();
  void find_paths(const WorkflowModel& model);

  class Run;
  OrionOptions options_;
  std::vector<std::vector<Choice>> stages_;
  std::vector<std::uint32_t> least_;  // by stage
  std::size_t paths_ = 1;
  std::vector<std::uint8_t> on_path_;  // stage · paths + path
  std::vector<double> waits_;          // by path
};

}  // namespace sluice::plan
