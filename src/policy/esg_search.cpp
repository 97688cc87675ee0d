#include "policy/esg_search.h"

#include <algorithm>
#include <set>

#include "plan/rivals/normalised_length.h"

namespace sluice::policy {

EsgModel::EsgModel(const plan::WorkflowModel& workflow, std::size_t group) {
  for (const plan::ModelStage& stage : workflow.stages) candidates_.push_back(stage.candidates);
  split_ = plan::split_slo(workflow.tree, plan::average_normalised_lengths(candidates_), group);
  groups_.resize(candidates_.size());
  for (std::uint32_t stage = 0; stage < candidates_.size(); ++stage) {
    std::set<plan::BatchCap> batches;
    for (const Graph::Node s : split_.stages_left(stage)) {
      for (const plan::Candidate& c : candidates_[s]) batches.insert(c.configuration.batch);
    }
    batches_.emplace_back(batches.begin(), batches.end());
  }
}

const EsgGroup* EsgModel::find_group(std::uint32_t stage, plan::BatchCap cap) const {
  for (const auto& group : groups_[stage]) {
    if (group->cap == cap) return group.get();
  }
  return nullptr;
}

const EsgGroup& EsgModel::add_group(std::uint32_t stage, EsgGroup group) {
  return *groups_[stage].emplace_back(std::make_unique<EsgGroup>(std::move(group)));
}

EsgAnswers::Chain EsgModel::chain(std::uint32_t stage) const {
  EsgAnswers::Chain out;
  for (const Graph::Node s : split_.stages_left(stage)) out.push_back(candidates_[s]);
  return out;
}

plan::BatchCap EsgModel::cap(std::uint32_t stage, std::size_t waiting) const {
  const auto& batches = batches_[stage];
  const auto above = std::upper_bound(batches.begin(), batches.end(), waiting);
  return above == batches.begin() ? 0 : *(above - 1);
}

EsgModel& EsgSearch::model(const Queue& queue) {
  if (models_.size() <= queue.id.index()) models_.resize(queue.id.index() + 1);
  auto& [workflow, model] = models_[queue.id.index()];
  if (workflow != queue.model) {
    if (workflow != nullptr) memo_.clear();  // a profile has changed
    workflow = queue.model;
    model = std::make_unique<EsgModel>(*workflow, options_.group);
  }
  return *model;
}

const EsgGroup& EsgSearch::group(const Queue& queue, plan::BatchCap cap) {
  EsgModel& esg = model(queue);
  if (const EsgGroup* built = esg.find_group(queue.model_stage, cap)) return *built;
  const EsgAnswers::Chain chain = esg.chain(queue.model_stage);
  const EsgTerms terms{.cap = cap, .k = options_.k, .distinct_first = options_.distinct_first};
  return esg.add_group(queue.model_stage, {.cap = cap,
                                           .stages = plan::IndexedStages(chain, cap),
                                           .known = library_.known ? library_.known->find(chain, terms) : nullptr,
                                           .found = library_.found ? &library_.found->shelf(chain, terms) : nullptr});
}

EsgAnswer EsgSearch::search(const Queue& queue, const EsgGroup& group, double budget_ms) {
  const plan::SearchResult found = plan::esg_1q_lazy(
      group.stages, {.budget_ms = budget_ms, .k = options_.k, .distinct_first = options_.distinct_first}, workspace_);
  EsgAnswer out{.expansions = found.expansions};
  for (const plan::Path& path : found.paths)
    out.firsts.push_back(model(queue).candidates(queue.model_stage)[path.candidates[0]].configuration);
  return out;
}

const EsgAnswer& EsgSearch::find(const Queue& queue, plan::BatchCap cap, double budget_ms) {
  if (!options_.memo) return last_ = search(queue, group(queue, cap), budget_ms);
  (void)model(queue);  // forgets what was found with another profile
  const SearchKey key{queue.id, cap, whole_ms(budget_ms)};
  if (const EsgAnswer* remembered = memo_.find(key)) return *remembered;
  const EsgGroup& asked = group(queue, cap);
  if (asked.known != nullptr) {
    if (const auto known = asked.known->find(key.budget_ms); known != asked.known->end()) return known->second;
  }
  const EsgAnswer& out = memo_.put(key, search(queue, asked, static_cast<double>(key.budget_ms)));
  if (asked.found != nullptr) library_.found->put(*asked.found, key.budget_ms, out);
  return out;
}

}  // namespace sluice::policy
