// Slack: the time a queue's oldest invocation has left beyond what the rest must take at least. The least slack is the
// most urgent.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/fastest_rest.h"
#include "policy/view.h"

namespace sluice::policy {

// The least time that each queue's stage and what follows it take. Derived, made when first asked for and again when
// profiles have changed.
class FastestRests {
 public:
  explicit FastestRests(plan::BatchCap cap) : cap_(cap) {}

  double ms(const View& view, const Queue& queue) {
    if (known_.size() < view.queues.size()) known_.resize(view.queues.size());
    Known& known = known_[queue.id.index()];
    if (known.rest == nullptr || known.rest->model != queue.model) look_at(view, queue.model);
    if (!known.ms) known.ms = known.rest->fastest.from(*queue.model, queue.model_stage);
    return *known.ms;
  }
  void forget(const Queue& queue) {
    if (queue.id.index() < known_.size()) known_[queue.id.index()] = {};
  }

 private:
  struct Rest {
    std::shared_ptr<const plan::WorkflowModel> model;
    plan::FastestRest fastest;
  };
  struct Known {
    std::shared_ptr<const Rest> rest;  // of all queues of the model
    std::optional<double> ms;          // of this one, when it was asked for
  };
  void look_at(const View& view, const std::shared_ptr<const plan::WorkflowModel>& model) {
    const auto rest = std::make_shared<const Rest>(Rest{model, plan::FastestRest(*model, cap_)});
    for (const Queue& queue : view.queues) {
      if (queue.model == model) known_[queue.id.index()] = {rest, std::nullopt};
    }
  }

  plan::BatchCap cap_;
  std::vector<Known> known_;  // by queue
};

// REQUIRES: somebody waits.
[[nodiscard]] inline std::int64_t slack_ns(const View& view, const Queue& queue, FastestRests& rests) {
  return (queue.waiting.front().deadline - view.now).count_ns() - Duration::ms(rests.ms(view, queue)).count_ns();
}

}  // namespace sluice::policy
