// FrontierPlanner: exact plans for whole workflows in microseconds. Frontiers of every part of the workflow are built
// once per batch cap (at deploy, and partly again when a profile entry changes); a decision then is one walk along the
// configurations of the stage at hand, by time, and along the frontier of what follows. Known caveats: latencies are
// taken to add up (means, or means with a margin); frontiers beyond points_max and large irregular regions are good but
// not proven best, error_bound() and Rest::error() say by how much.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plan/cost_sort.h"
#include "plan/frontier_rest.h"
#include "plan/frontier_tree.h"
#include "plan/workflow_model.h"

namespace sluice::plan {

struct FrontierOptions {
  std::size_t points_max = 4096;  // per frontier; larger ones are thinned
};

// The best plan that starts with one configuration of the stage at hand.
struct Option {
  std::uint32_t candidate = 0;  // of the stage
  double ms = 0;                // this stage and what must follow on its own path
  Dollars cost = 0;             // this stage and everything that has not begun
  friend bool operator==(const Option&, const Option&) = default;
};

struct Plan {
  Dollars cost = 0;
  std::vector<ChosenStage> stages;  // the stage at hand first
};

// Scratch of one caller; grows to what it needs once, then queries outside of begun or irregular regions allocate
// nothing.
struct FrontierWorkspace {
  Rest rest;
  std::vector<Option> options;
  CostSort<Option> sort;
};

class FrontierPlanner {
 public:
  explicit FrontierPlanner(std::shared_ptr<const WorkflowModel> model, const FrontierOptions& options = {});
  explicit FrontierPlanner(WorkflowModel model, const FrontierOptions& options = {});

  [[nodiscard]] const WorkflowModel& model() const { return *model_; }
  [[nodiscard]] const std::shared_ptr<const WorkflowModel>& shared_model() const { return model_; }
  // The frontier of the whole workflow; empty if the cap leaves a stage without a candidate.
  [[nodiscard]] const Frontier& whole(BatchCap cap) const;
  // How much dearer than the exact optimum a plan may be, as a part of it: 0 if nothing was thinned.
  [[nodiscard]] double error_bound(BatchCap cap) const;
  [[nodiscard]] std::size_t points() const;  // in all frontiers; 24 bytes each

  // For every candidate of `stage` with batch ≤ cap that still meets `budget_ms`: the cheapest plan that starts with
  // it, by cost, then ms, then candidate.
  [[nodiscard]] std::span<const Option> query(std::size_t stage, BatchCap cap, double budget_ms,
                                              FrontierWorkspace& workspace) const;
  // The plan behind an option of the last query with this workspace. Stages of siblings that have begun are left out.
  [[nodiscard]] Plan plan_of(std::size_t stage, const Option& option, FrontierWorkspace& workspace) const;

 private:
  [[nodiscard]] const FrontierTree* tree(BatchCap cap) const;  // nullptr: below the smallest batch

  std::shared_ptr<const WorkflowModel> model_;
  TreeLinks links_;
  std::vector<FrontierTree> trees_;                // by batch cap, ascending
  std::vector<std::vector<std::uint32_t>> by_ms_;  // the candidates of each stage
};

}  // namespace sluice::plan
