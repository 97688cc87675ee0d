#include "policy/frontiers.h"

namespace sluice::policy {
namespace {

using Model = std::shared_ptr<const plan::WorkflowModel>;

struct Made final : Derived {
  explicit Made(const Model& model) : planner(std::make_shared<const plan::FrontierPlanner>(model)) {}
  Frontiers::Planner planner;
};

bool is_of(const Frontiers::Planner& planner, const Model& model) {
  return planner != nullptr && planner->shared_model() == model;
}

}  // namespace

Derive frontiers_derive() {
  return [](const Model& model, const Application&) { return DerivedList{std::make_shared<const Made>(model)}; };
}

Frontiers::Planner Frontiers::make(const ApplicationModel& application, const Model& model) {
  for (const auto& one : application.derived) {
    const auto* made = dynamic_cast<const Made*>(one.get());
    if (made != nullptr && is_of(made->planner, model)) return made->planner;
  }
  ++made_here_;
  return std::make_shared<const plan::FrontierPlanner>(model);
}

const Frontiers::Planner& Frontiers::of(const View& view, const Queue& queue) {
  if (by_queue_.size() < view.queues.size()) by_queue_.resize(view.queues.size());
  const Planner& mine = by_queue_[queue.id.index()];
  if (is_of(mine, queue.model)) return mine;
  const Planner made = make(view.application(queue.application), queue.model);
  for (const Queue& other : view.queues) {
    if (other.model == queue.model) by_queue_[other.id.index()] = made;
  }
  return mine;
}

const Frontiers::Planner& Frontiers::of(const View& view, ApplicationId id) {
  if (by_application_.size() < view.applications.size()) by_application_.resize(view.applications.size());
  const ApplicationModel& application = view.application(id);
  Planner& mine = by_application_[id.index()];
  if (is_of(mine, application.model)) return mine;
  for (const ApplicationModel& other : view.applications)
    if (other.removed && other.id.index() < by_application_.size()) by_application_[other.id.index()] = nullptr;
  return mine = make(application, application.model);
}

void Frontiers::forget(const Queue& queue) {
  if (queue.id.index() < by_queue_.size()) by_queue_[queue.id.index()] = nullptr;
  if (queue.application.index() < by_application_.size()) by_application_[queue.application.index()] = nullptr;
}

}  // namespace sluice::policy
