// The workflows that bench_plan plans: ESG's applications, and random ones whose stages run ESG's functions.
#pragma once
#include <string>
#include <vector>

#include "plan/frontier_planner.h"
#include "support/esg_profile.h"

namespace sluice::bench {

struct Effort {
  bool quick = false;  // few repetitions: enough to see that everything works
};

// ESG's four applications, the one of five stages last.
[[nodiscard]] std::vector<esg_profile::Application> esg_applications();
[[nodiscard]] plan::WorkflowModel model_of(const esg_profile::Application& application);

struct RandomWorkflow {
  plan::WorkflowModel model;
  double minimum_ms = 0;        // L: the longest path when every stage runs alone at (1,1,1)
  std::size_t path_stages = 0;  // on the path with the most stages
};
// A seeded series-parallel workflow, branching 2 to 4, at most 40 stages on a path.
[[nodiscard]] RandomWorkflow random_model(std::size_t stages);

}  // namespace sluice::bench
