#include "plan/frontier_planner.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/check.h"

namespace sluice::plan {

FrontierPlanner::FrontierPlanner(WorkflowModel model, const FrontierOptions& options)
    : model_(std::move(model)), links_(model_) {
  for (const BatchCap cap : model_.batch_caps()) trees_.emplace_back(model_, cap, options.points_max);
}

const FrontierTree* FrontierPlanner::tree(BatchCap cap) const {
  const FrontierTree* found = nullptr;
  for (const FrontierTree& tree : trees_) {
    if (tree.cap() <= cap) found = &tree;
  }
  return found;
}

const Frontier& FrontierPlanner::whole(BatchCap cap) const {
  static const Frontier kEmpty;
  const FrontierTree* found = tree(cap);
  return found == nullptr ? kEmpty : found->of(model_, model_.tree.root());
}

double FrontierPlanner::error_bound(BatchCap cap) const {
  return whole(cap).error();
}

std::size_t FrontierPlanner::points() const {
  std::size_t total = 0;
  for (const FrontierTree& tree : trees_) total += tree.points();
  return total;
}

std::span<const Option> FrontierPlanner::query(std::size_t stage, BatchCap cap, double budget_ms,
                                               FrontierWorkspace& workspace, const Progress* progress) const {
  std::vector<Option>& options = workspace.options;
  options.clear();
  const FrontierTree* found = tree(cap);
  if (found == nullptr || !workspace.rest.prepare(model_, *found, links_, stage, budget_ms, progress)) return options;
  const ModelStage& at_hand = model_.stages[stage];
  for (std::uint32_t i = 0; i < at_hand.candidates.size(); ++i) {
    const Candidate& candidate = at_hand.candidates[i];
    if (candidate.configuration.batch > cap) continue;
    const StageTerms terms = at_hand.scale.of(candidate.ms, candidate.cost);
    const double ms = terms.ms + at_hand.wait_ms;
    const RestChoice rest = workspace.rest.cheapest(budget_ms - ms);
    if (rest.found) options.push_back({i, ms + rest.ms, terms.cost + rest.cost});
  }
  std::sort(options.begin(), options.end(), [](const Option& a, const Option& b) {
    return std::tie(a.cost, a.ms, a.candidate) < std::tie(b.cost, b.ms, b.candidate);
  });
  return options;
}

Plan FrontierPlanner::plan_of(std::size_t stage, const Option& option, FrontierWorkspace& workspace) const {
  const ModelStage& at_hand = model_.stages[stage];
  const Candidate& candidate = at_hand.candidates[option.candidate];
  const double ms = at_hand.scale.of(candidate.ms, candidate.cost).ms + at_hand.wait_ms;
  Plan plan{.cost = option.cost, .stages = {{stage, option.candidate}}};
  workspace.rest.collect(model_, ms, plan.stages);
  return plan;
}

double FrontierPlanner::fastest_ms(std::size_t stage, BatchCap cap) const {
  const FrontierTree* found = tree(cap);
  if (found == nullptr) return std::numeric_limits<double>::infinity();
  return fastest_from(model_, *found, links_, stage);
}

std::size_t FrontierPlanner::update(std::size_t stage, std::uint32_t candidate, double ms, Dollars cost) {
  Candidate& entry = model_.stages[stage].candidates[candidate];
  entry.ms = ms;
  entry.cost = cost;
  std::size_t built = 0;
  for (FrontierTree& tree : trees_) {
    if (tree.cap() >= entry.configuration.batch) built += tree.rebuild(model_, links_, stage);
  }
  return built;
}

}  // namespace sluice::plan
