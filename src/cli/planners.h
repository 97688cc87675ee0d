// The planners behind `sluice plan`, asked the same question: which configuration for every stage that is still to run?
#pragma once
#include <vector>

#include "base/result.h"
#include "plan/frontier_planner.h"
#include "plan/workflow_model.h"
#include "report/plan_answer.h"

namespace sluice::cli {

using report::PlanAnswer;
using report::PlannedWorkflow;
using report::PlanQuestion;

[[nodiscard]] Result<PlanAnswer> ask_frontier(const plan::FrontierPlanner& planner, const PlanQuestion& question);
// In groups of three, each within its share of the remaining time.
[[nodiscard]] Result<PlanAnswer> ask_esg_1q(const plan::WorkflowModel& model, const PlanQuestion& question);
[[nodiscard]] Result<PlanAnswer> ask_label(const plan::WorkflowModel& model, const PlanQuestion& question);
[[nodiscard]] Result<PlanAnswer> ask_brute_force(const plan::WorkflowModel& model, const PlanQuestion& question);

// Latency by means and summed cost of stages that are chosen; the others are done.
[[nodiscard]] PlannedWorkflow totals_of(const plan::WorkflowModel& model, std::vector<plan::ChosenStage> stages);

}  // namespace sluice::cli
