#include "plan/frontier_planner.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/check.h"

namespace sluice::plan {
namespace {

// By ms, then position.
struct Faster {
  const Candidates& candidates;
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    return std::tie(candidates[a].ms, a) < std::tie(candidates[b].ms, b);
  }
};

}  // namespace

FrontierPlanner::FrontierPlanner(WorkflowModel model, const FrontierOptions& options)
    : FrontierPlanner(std::make_shared<const WorkflowModel>(std::move(model)), options) {}

FrontierPlanner::FrontierPlanner(std::shared_ptr<const WorkflowModel> model, const FrontierOptions& options)
    : model_(std::move(model)), links_(*model_) {
  for (const BatchCap cap : model_->batch_caps()) trees_.emplace_back(*model_, cap, options.points_max);
  for (const ModelStage& stage : model_->stages) {
    std::vector<std::uint32_t>& order = by_ms_.emplace_back(stage.candidates.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), Faster{stage.candidates});
  }
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
  return found == nullptr ? kEmpty : found->of(*model_, model_->tree.root());
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
                                               FrontierWorkspace& workspace) const {
  std::vector<Option>& options = workspace.options;
  options.clear();
  const FrontierTree* found = tree(cap);
  if (found == nullptr || !workspace.rest.prepare(*model_, *found, links_, stage, budget_ms)) return options;
  const ModelStage& at_hand = model_->stages[stage];
  const std::span<const Frontier::Point> after = workspace.rest.after();
  std::size_t end = after.size();  // what does not fit behind one candidate does not fit behind a slower one
  for (const std::uint32_t i : by_ms_[stage]) {
    const Candidate& candidate = at_hand.candidates[i];
    if (candidate.configuration.batch > cap) continue;
    const StageTerms terms = at_hand.scale.of(candidate.ms, candidate.cost);
    const double ms = terms.ms + at_hand.wait_ms;
    while (end > 0 && after[end - 1].ms > budget_ms - ms) --end;
    if (end == 0) break;
    options.push_back({i, ms + workspace.rest.path_ms(end - 1), terms.cost + after[end - 1].cost});
  }
  workspace.sort(options, [](const Option& a, const Option& b) {
    return std::tie(a.cost, a.ms, a.candidate) < std::tie(b.cost, b.ms, b.candidate);
  });
  return options;
}

Plan FrontierPlanner::plan_of(std::size_t stage, const Option& option, FrontierWorkspace& workspace) const {
  const ModelStage& at_hand = model_->stages[stage];
  const Candidate& candidate = at_hand.candidates[option.candidate];
  const double ms = at_hand.scale.of(candidate.ms, candidate.cost).ms + at_hand.wait_ms;
  Plan plan{.cost = option.cost, .stages = {{stage, option.candidate}}};
  const std::size_t points = Frontier::count_within(workspace.rest.after(), workspace.rest.budget_ms() - ms);
  CHECK(points > 0);
  workspace.rest.collect(*model_, points - 1, plan.stages);
  return plan;
}

}  // namespace sluice::plan
