// FixedSplit: an objective split over functions once, by their mean times, and never again, whatever became of the time
// of earlier stages. What ESG's evaluation gives to schedulers that know single functions only (GrandSLAm's rule).
#pragma once
#include <memory>
#include <vector>

#include "plan/workflow_model.h"
#include "policy/view.h"

namespace sluice::policy {

class FixedSplit {
 public:
  // Means over all configurations of a stage. In a chain the shares are mean / sum of means; a parallel region weighs
  // as its heaviest branch, and each branch gets the region's whole share.
  explicit FixedSplit(const plan::WorkflowModel& model);
  // What one invocation of the stage may take of an objective.
  [[nodiscard]] double ms(std::uint32_t stage, double objective_ms) const { return share_[stage] * objective_ms; }

 private:
  std::vector<double> share_;  // by stage
};

// The splits of all queues; derived, built when first asked for and again when profiles have changed.
class FixedSplits {
 public:
  // What the queue's oldest invocation may take. REQUIRES: something waits.
  [[nodiscard]] double limit_ms(const Queue& queue);

 private:
  struct Built {
    std::shared_ptr<const plan::WorkflowModel> model;  // it was built from
    std::unique_ptr<FixedSplit> split;
  };
  std::vector<Built> splits_;  // by queue
};

}  // namespace sluice::policy
