// A question to a planner about the rest of a workflow, and its answer: what `sluice plan` asks and prints.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/money.h"
#include "plan/frontier_planner.h"

namespace sluice::report {

struct PlanQuestion {
  std::size_t from = 0;              // stage of the model
  double remaining_ms = 0;           // of the objective
  plan::BatchCap queue = 1;          // invocations that wait
  std::optional<double> percentile;  // of the latency, to be within it; absent: the mean
  std::size_t top = 5;               // alternatives wanted
  int repeat = 1;                    // searches timed
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

}  // namespace sluice::report
