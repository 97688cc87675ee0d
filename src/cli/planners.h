// The planners behind `sluice plan`, asked the same question: which configuration for every stage that is still to run?
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/frontier_planner.h"
#include "plan/workflow_model.h"

namespace sluice::cli {

struct PlanQuestion {
  std::size_t from = 0;      // stage of the model
  double remaining_ms = 0;   // of the objective
  plan::BatchCap queue = 1;  // invocations that wait
  double percentile = 50;
  std::size_t top = 5;  // alternatives wanted
  int repeat = 1;       // searches timed
};

struct PlannedWorkflow {
  double latency_ms = 0;  // of all that is still to run, by means
  Dollars cost = 0;       // the sum over its stages
  std::vector<plan::ChosenStage> stages;
};

struct PlanAnswer {
  std::vector<PlannedWorkflow> plans;  // the best first, then the alternatives; empty: infeasible
  double search_us = 0;                // median
  std::uint64_t expansions = 0;
  double percentile_ms = 0;  // of the best plan; frontier only
  double error_bound = 0;    // of its cost; frontier only
};

[[nodiscard]] Result<PlanAnswer> ask_frontier(const plan::FrontierPlanner& planner, const PlanQuestion& question);
// In groups of three, each within its share of the remaining time.
[[nodiscard]] Result<PlanAnswer> ask_esg_1q(const plan::WorkflowModel& model, const PlanQuestion& question);
[[nodiscard]] Result<PlanAnswer> ask_label(const plan::WorkflowModel& model, const PlanQuestion& question);
[[nodiscard]] Result<PlanAnswer> ask_brute_force(const plan::WorkflowModel& model, const PlanQuestion& question);

// Latency by means and summed cost of stages that are chosen; the others are done.
[[nodiscard]] PlannedWorkflow totals_of(const plan::WorkflowModel& model, std::vector<plan::ChosenStage> stages);

}  // namespace sluice::cli
