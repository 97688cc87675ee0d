// WorkflowModel: an application as planners see it. A tree of stages, each with its candidates (time and cost by
// configuration) and the factors of conditions and fan-out; the bodies of `foreach` are part of the tree.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/application.h"
#include "domain/series_parallel.h"
#include "plan/candidate.h"
#include "plan/evaluate.h"
#include "profile/function_profile.h"
#include "profile/neighbours.h"
#include "profile/tail.h"

namespace sluice::plan {

struct ModelStage {
  std::string name;     // "each object/crop" inside a foreach
  FunctionId function;  // none: a stage that runs nothing
  Candidates candidates;
  std::vector<double> sd_ms;  // of each candidate
  StageScale scale;           // conditions and fan-out
  double wait_ms = 0;
  profile::Stragglers stragglers = {};
};

struct WorkflowModel {
  SeriesParallelTree tree;                                      // stages of the tree are positions in `stages`
  std::vector<ModelStage> stages;                               // stages in error handlers are left out
  [[nodiscard]] std::size_t find(std::string_view name) const;  // stages.size() if there is none
  [[nodiscard]] std::size_t entry() const;                      // the first stage; of several the first
  // Every batch some candidate has, ascending: between two of them a batch cap makes no difference.
  [[nodiscard]] std::vector<BatchCap> batch_caps() const;
};

// What is not in the application: how often conditions hold, how many items a fan-out has, how often an execution takes
// a multiple of its time, how many slices beside it are busy. Learned at run time.
struct ModelAssumptions {
  // By stage as ModelStage::name has it.
  std::map<std::string, double> shares;        // of requests that take it; absent: equal alternatives
  std::map<std::string, std::uint32_t> items;  // of a foreach; absent: `items_default`
  std::uint32_t items_default = 4;
  std::vector<profile::Stragglers> stragglers;  // by FunctionId; absent: none
  std::vector<profile::Neighbours> neighbours;  // likewise
};

// An error if a stage has no candidate left, with the stage and what its `configurations` ask for.
// `profiles` by FunctionId of the application.
[[nodiscard]] Result<WorkflowModel> make_model(const Application& application,
                                               std::span<const profile::FunctionProfile> profiles,
                                               const ModelAssumptions& assumptions = {});
// One stage on its own: for stages that are in no plan, because they only handle errors.
[[nodiscard]] Result<WorkflowModel> make_stage_model(const Application& application,
                                                     std::span<const profile::FunctionProfile> profiles,
                                                     const Stage& stage);
// The profiles of all functions, or the first error, which names the function.
[[nodiscard]] Result<std::vector<profile::FunctionProfile>> make_profiles(const Application& application);

}  // namespace sluice::plan
