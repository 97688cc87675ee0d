#include "policy/fixed_split.h"

#include "plan/rivals/slo_split.h"

namespace sluice::policy {

FixedSplit::FixedSplit(const plan::WorkflowModel& model) {
  std::vector<double> means;  // a fan-out takes its waves one after another
  for (const plan::ModelStage& stage : model.stages) {
    double sum = 0;
    for (const plan::Candidate& c : stage.candidates) sum += c.ms;
    means.push_back(sum / static_cast<double>(stage.candidates.size()) * stage.scale.ms);
  }
  const plan::SloSplit split = plan::split_slo(model.tree, means, 1);
  for (std::size_t s = 0; s < means.size(); ++s)
    share_.push_back(split.groups[split.group_of[s]].share / model.stages[s].scale.ms);
}

double FixedSplits::limit_ms(const Queue& queue) {
  if (splits_.size() <= queue.id.index()) splits_.resize(queue.id.index() + 1);
  auto& [model, split] = splits_[queue.id.index()];
  if (model != queue.model) {
    model = queue.model;
    split = std::make_unique<FixedSplit>(*model);
  }
  const Waiting& oldest = queue.waiting.front();
  return split->ms(queue.model_stage, (oldest.deadline - oldest.arrival).to_ms());
}

}  // namespace sluice::policy
