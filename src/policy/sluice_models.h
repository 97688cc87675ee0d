// SluiceModels: the models of `sluice` for every queue, found among those made ahead or made when first asked for.
// Derived, never saved.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "policy/miss_price.h"
#include "policy/sluice_model.h"
#include "policy/view.h"

namespace sluice::policy {

class SluiceModels {
 public:
  explicit SluiceModels(const SluiceOptions& options) : options_(options) {}

  // For a request that has `left_ms` until its deadline, by the level of the application's price of being late; what is
  // built goes on the bill. Null for a workflow of many thousand stages, whose tables would not fit into memory:
  // frontiers with a margin must do there.
  const SluiceModel* find(const View& view, const Queue& queue, double left_ms, SluiceState& state);
  // The queues of the stages of a queue's model. REQUIRES: find() was asked for that queue.
  [[nodiscard]] const std::vector<QueueId>& queues(QueueId queue) const { return models_[queue.index()]->queues; }
  void forget(QueueId queue);
  // How many were made here because none were made ahead.
  [[nodiscard]] std::uint64_t made_here() const { return made_here_; }

 private:
  struct Models {
    std::shared_ptr<const plan::WorkflowModel> model;
    bool fits = false;          // into memory
    std::uint64_t content = 0;  // a number for all that tables are made from
    // By level and stretch; made when first asked for.
    std::array<std::array<std::shared_ptr<const SluiceModel>, ModelKind::kStretches>, MissPrice::kLevels> by_kind = {};
    std::vector<QueueId> queues = {};  // by stage of the model
  };
  Models& models_of(const View& view, const Queue& queue);

  SluiceOptions options_;
  std::vector<NodeGroup> shapes_;                // what the models were made for
  std::vector<std::shared_ptr<Models>> models_;  // by QueueId; one for all queues of a model
  std::uint64_t made_here_ = 0;
};

}  // namespace sluice::policy
