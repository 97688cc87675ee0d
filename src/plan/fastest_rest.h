// FastestRest: the least time that a stage and everything after it take, whatever they cost. Needs no frontiers; made
// once of a workflow for one batch cap.
#pragma once
#include <cstddef>
#include <vector>

#include "plan/frontier_tree.h"
#include "plan/workflow_model.h"

namespace sluice::plan {

class FastestRest {
 public:
  FastestRest(const WorkflowModel& model, BatchCap cap);
  // From the start of `stage` to the end of the workflow; siblings start with it. Infinity if the cap leaves a stage on
  // the way without a candidate. `model`: the one that this was made of.
  [[nodiscard]] double from(const WorkflowModel& model, std::size_t stage) const;

 private:
  TreeLinks links_;
  std::vector<double> nodes_;  // milliseconds, by node of the tree
};

}  // namespace sluice::plan
