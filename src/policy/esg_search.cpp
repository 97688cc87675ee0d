#include "policy/esg_search.h"

#include <algorithm>
#include <set>

#include "plan/rivals/normalised_length.h"

namespace sluice::policy {

EsgModel::EsgModel(const plan::FrontierPlanner& planner, std::size_t group) {
  for (const plan::ModelStage& stage : planner.model().stages) candidates_.push_back(stage.candidates);
  split_ = plan::split_slo(planner.model().tree, plan::average_normalised_lengths(candidates_), group);
  sorted_.resize(candidates_.size());
  for (std::uint32_t stage = 0; stage < candidates_.size(); ++stage) {
    std::set<plan::BatchCap> batches;
    for (const Graph::Node s : split_.stages_left(stage)) {
      for (const plan::Candidate& c : candidates_[s]) batches.insert(c.configuration.batch);
    }
    batches_.emplace_back(batches.begin(), batches.end());
  }
}

const plan::SortedStages& EsgModel::stages(std::uint32_t stage, plan::BatchCap cap) {
  for (const auto& [known, sorted] : sorted_[stage]) {
    if (known == cap) return *sorted;
  }
  std::vector<plan::Candidates> group;
  for (const Graph::Node s : split_.stages_left(stage)) group.push_back(candidates_[s]);
  sorted_[stage].emplace_back(cap, std::make_unique<plan::SortedStages>(group, cap, plan::SortedStages::Keep::all));
  return *sorted_[stage].back().second;
}

plan::BatchCap EsgModel::cap(std::uint32_t stage, std::size_t waiting) const {
  const auto& batches = batches_[stage];
  const auto above = std::upper_bound(batches.begin(), batches.end(), waiting);
  return above == batches.begin() ? 0 : *(above - 1);
}

EsgModel& EsgSearch::model(const Queue& queue) {
  if (models_.size() <= queue.id.index()) models_.resize(queue.id.index() + 1);
  auto& [planner, model] = models_[queue.id.index()];
  if (planner != queue.planner) {
    if (planner != nullptr) memo_.clear();  // a profile has changed
    planner = queue.planner;
    model = std::make_unique<EsgModel>(*planner, options_.group);
  }
  return *model;
}

EsgAnswer EsgSearch::search(const Queue& queue, plan::BatchCap cap, double budget_ms) {
  EsgModel& esg = model(queue);
  const plan::SearchResult found =
      plan::esg_1q(esg.stages(queue.model_stage, cap),
                   {.budget_ms = budget_ms, .k = options_.k, .distinct_first = options_.distinct_first}, workspace_);
  EsgAnswer out{.expansions = found.expansions};
  for (const plan::Path& path : found.paths)
    out.firsts.push_back(esg.candidates(queue.model_stage)[path.candidates[0]].configuration);
  return out;
}

const EsgAnswer& EsgSearch::find(const Queue& queue, plan::BatchCap cap, double budget_ms) {
  if (!options_.memo) return last_ = search(queue, cap, budget_ms);
  (void)model(queue);  // forgets what was found with another profile
  const SearchKey key{queue.id, cap, whole_ms(budget_ms)};
  if (const EsgAnswer* known = memo_.find(key)) return *known;
  return memo_.put(key, search(queue, cap, static_cast<double>(key.budget_ms)));
}

}  // namespace sluice::policy
