#include "policy/orion_planner.h"

#include <algorithm>

namespace sluice::policy {

const plan::OrionPlan& OrionPlanner::find(const Queue& queue, std::size_t waiting, double budget_ms) {
  const Workflow& of = workflow(queue);
  const plan::BatchCap batch_cap = cap(of, waiting);
  if (!options_.memo) return last_ = of.search.find(budget_ms, batch_cap, workspace_);
  const SearchKey key{queue.id, batch_cap, whole_ms(budget_ms)};
  if (const plan::OrionPlan* known = memo_.find(key)) return *known;
  return memo_.put(key, of.search.find(static_cast<double>(key.budget_ms), batch_cap, workspace_));
}

OrionPlanner::Workflow& OrionPlanner::workflow(const Queue& queue) {
  if (workflows_.size() <= queue.id.index()) workflows_.resize(queue.id.index() + 1);
  auto& workflow = workflows_[queue.id.index()];
  if (workflow == nullptr || workflow->model != queue.model) {
    if (workflow != nullptr) memo_.clear();  // a profile has changed
    const plan::WorkflowModel& model = *queue.model;
    workflow = std::make_unique<Workflow>(
        Workflow{queue.model, plan::OrionSearch(model, options_.search), model.batch_caps()});
  }
  return *workflow;
}

plan::BatchCap OrionPlanner::cap(const Workflow& workflow, std::size_t waiting) const {
  if (!options_.cap) return plan::kNoBatchCap;
  const auto above = std::upper_bound(workflow.caps.begin(), workflow.caps.end(), waiting);
  return above == workflow.caps.begin() ? 0 : *(above - 1);
}

}  // namespace sluice::policy
