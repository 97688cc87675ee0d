#include "policy/sluice_models.h"

#include <algorithm>

#include "policy/sluice_tables.h"

namespace sluice::policy {
namespace {

std::vector<QueueId> queues_by_stage(const View& view, const plan::WorkflowModel& model) {
  std::vector<QueueId> out(model.stages.size());
  for (const Queue& queue : view.queues) {
    if (queue.model.get() == &model) out[queue.model_stage] = queue.id;
  }
  return out;
}

}  // namespace

SluiceModels::Models& SluiceModels::models_of(const View& view, const Queue& queue) {
  if (models_.size() <= queue.id.index()) models_.resize(queue.id.index() + 1);
  auto& mine = models_[queue.id.index()];
  if (mine != nullptr && mine->model == queue.model) return *mine;
  const auto known = std::find_if(models_.begin(), models_.end(),
                                  [&](const auto& other) { return other != nullptr && other->model == queue.model; });
  if (known != models_.end()) {
    mine = *known;
  } else {
    mine = std::make_shared<Models>(Models{queue.model, plan::ValueTable::fits(*queue.model)});
    mine->queues = queues_by_stage(view, *queue.model);
    mine->content = content_of(*queue.model, shapes_);
  }
  return *mine;
}

const SluiceModel* SluiceModels::find(const View& view, const Queue& queue, double left_ms, SluiceState& state) {
  if (shapes_ != state.shapes) {
    shapes_ = state.shapes;
    models_.clear();
  }
  Models& models = models_of(view, queue);
  state.bill.uses(queue.id, models.content);
  if (!models.fits) return nullptr;
  const Application& application = *view.application(queue.application).application;
  ModelKind kind;
  if (application.objective.percentile) kind.level = state.applications[queue.application.index()].price.level();
  double covered = std::max(1.0, application.objective.latency.to_ms());
  for (; covered < left_ms && kind.stretch + 1 < ModelKind::kStretches; ++kind.stretch) covered *= ModelKind::kStretch;
  auto& found = models.by_kind[kind.level][kind.stretch];
  if (found == nullptr) {
    found = find_model(view.application(queue.application).derived, *queue.model, shapes_, kind);
    if (found == nullptr) {
      found = std::make_shared<SluiceModel>(queue.model, application, shapes_, kind, options_);
      ++made_here_;
    }
    state.bill.table(models.content, kind.number(), found->build_expansions());
  }
  return found.get();
}

void SluiceModels::forget(QueueId queue) {
  if (queue.index() < models_.size()) models_[queue.index()] = {};
}

}  // namespace sluice::policy
