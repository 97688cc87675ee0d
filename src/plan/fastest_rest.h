// FastestRest: the least time that a stage and everything after it take, whatever they cost. Needs no frontiers; made
// once of a workflow for one batch cap, in time proportional to its size. Policies keep it (policy/slack.h).
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
  // By node of the tree, in milliseconds: it, and what comes after it in a row that it is in.
  std::vector<double> nodes_, after_;
};

}  // namespace sluice::plan
