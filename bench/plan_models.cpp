#include "bench/plan_models.h"

#include "domain/paths.h"
#include "support/random_workflow.h"
#include "support/tree_builder.h"

namespace sluice::bench {
namespace {

constexpr std::uint64_t kSeed = 1;

}  // namespace

std::vector<esg_profile::Application> esg_applications() {
  return {esg_profile::image_classification(), esg_profile::depth_recognition(), esg_profile::background_elimination(),
          esg_profile::expanded_image_classification()};
}

plan::WorkflowModel model_of(const esg_profile::Application& application) {
  plan::WorkflowModel model{.tree = tree_builder::chain_of(static_cast<std::uint32_t>(application.stages.size()))};
  for (const esg_profile::Function& function : application.stages) {
    model.stages.push_back({.name = std::string(function.name), .candidates = esg_profile::candidates(function)});
  }
  return model;
}

RandomWorkflow random_model(std::size_t stages) {
  Rng rng(kSeed);
  const Graph graph = graph_of(series_parallel_workflow(stages, rng));
  RandomWorkflow out{.model = {.tree = series_parallel(graph)}};
  std::vector<double> alone_ms;
  for (std::size_t i = 0; i < stages; ++i) {
    const esg_profile::Function& function = esg_profile::kFunctions[rng.below(esg_profile::kFunctions.size())];
    alone_ms.push_back(function.exec_ms);
    out.model.stages.push_back({.name = "s" + std::to_string(i), .candidates = esg_profile::candidates(function)});
  }
  out.minimum_ms = longest_paths(graph, alone_ms).length;
  out.path_stages = longest_paths(graph, std::vector<double>(stages, 1)).path.size();
  return out;
}

}  // namespace sluice::bench
