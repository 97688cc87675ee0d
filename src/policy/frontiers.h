// Frontiers: the exact planners of the workflows that a policy asks about, found among those made ahead or made when
// first asked for. Derived, never saved.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "plan/frontier_planner.h"
#include "policy/derived.h"
#include "policy/view.h"

namespace sluice::policy {

// Makes them beside the plans.
[[nodiscard]] Derive frontiers_derive();

class Frontiers {
 public:
  using Planner = std::shared_ptr<const plan::FrontierPlanner>;
  // Of the queue's model.
  const Planner& of(const View& view, const Queue& queue);
  // Of the application's.
  const Planner& of(const View& view, ApplicationId id);
  void forget(const Queue& queue);
  // How many were made here because none were made ahead.
  [[nodiscard]] std::uint64_t made_here() const { return made_here_; }

 private:
  [[nodiscard]] Planner make(const ApplicationModel& application,
                             const std::shared_ptr<const plan::WorkflowModel>& model);

  std::vector<Planner> by_queue_, by_application_;
  std::uint64_t made_here_ = 0;
};

}  // namespace sluice::policy
