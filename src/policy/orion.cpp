#include "policy/orion.h"

#include <algorithm>
#include <map>

#include "policy/esg_placement.h"
#include "policy/orion_planner.h"
#include "policy/queue_pass.h"
#include "policy/runnable.h"

namespace sluice::policy {
namespace {

// origin: from Orion itself; our choice: unknown, set by us.
//   states      5000   our choice: states of a search; at 20 µs each the 100 ms of ESG's evaluation
//   stop_first  0      our choice: 1 ends at the first plan that meets the objective
//   sigma       0.05   our choice: relative spread of a stage's time
//   quantile    1.645  origin: plans for P95
//   cap         1      our choice: plans have no larger batches than what waits; 0: as large as they like
//   memo        1      our choice: budgets are rounded down to 1 ms and searches remembered; 0: neither
OrionPlannerOptions options(const Parameters& p) {
  return {.search = {.sigma = parameter_or(p, "sigma", 0.05),
                     .quantile = parameter_or(p, "quantile", 1.645),
                     .states_max = static_cast<std::size_t>(std::max(1.0, parameter_or(p, "states", 5000))),
                     .stop_first = parameter_or(p, "stop_first", 0) != 0},
          .cap = parameter_or(p, "cap", 1) != 0,
          .memo = parameter_or(p, "memo", 1) != 0};
}

class Orion final : public Dispatch {
 public:
  explicit Orion(const Parameters& parameters) : planner_(options(parameters)) {}

  void begin(const View& view) override {
    if (waits_.size() < view.queues.size()) waits_.resize(view.queues.size(), RequestId::none());
    pass_.begin(view);
  }

  bool next(const View& view, Proposals& out) override {
    const Queue* queue = pass_.next(view);
    if (queue == nullptr) return false;
    out.clear();
    out.queue = queue->id;
    out.work.searches = 1;
    const RequestId oldest = queue->waiting.front().request;
    const Plan& plan = plan_of(view, *queue);
    const plan::Candidates& candidates = queue->model->stages[queue->model_stage].candidates;
    const Configuration planned = candidates[plan.candidates[queue->model_stage]].configuration;
    // Charged with the first batch, even if the search was over long before it found room.
    out.work.states = plan.states;
    out.planned = true;
    out.configuration_missed = queue->waiting.size() < planned.batch || waits_[queue->id.index()] == oldest;
    placement_.look_at(view, *queue);
    placement_.offer(view, *queue, planned, out);
    if (out.ranked.empty() && !runs_somewhere(view, *queue, planned)) {
      out.configuration_missed = true;
      placement_.offer(view, *queue, least_runnable(view, *queue), out);
    }
    note_members(*queue, out);
    return true;
  }

  void decided(const View& view, const Proposals& proposals, std::optional<std::size_t> booked) override {
    pass_.decided(booked.has_value());
    RequestId& waits = waits_[proposals.queue.index()];
    if (!booked) {
      waits = view.queue(proposals.queue).waiting.front().request;
      return;
    }
    waits = RequestId::none();
    const auto plan = plans_.find(members_.front());
    if (plan == plans_.end()) return;  // of an error handler
    plan->second.states = 0;
    for (const RequestId member : members_) plans_.try_emplace(member, plan->second);
  }

  void ended(const View&, RequestId request) override { plans_.erase(request); }
  void removed(const View&, const Queue& queue) override {
    placement_.forget(queue);
    if (queue.id.index() < waits_.size()) waits_[queue.id.index()] = RequestId::none();
  }

  void visit(Archive& archive) override {
    archive(plans_, waits_);
    pass_.visit(archive);
  }

 private:
  struct Plan {
    std::vector<std::uint32_t> candidates;  // by stage of the model
    std::uint64_t states = 0;               // of its search, not charged yet
    void visit(Archive& a) { a(candidates, states); }
  };

  // The plan of the queue's oldest request; made if this is its first function. An error handler is in no plan and gets
  // one of its own.
  const Plan& plan_of(const View& view, const Queue& queue) {
    const Waiting& oldest = queue.waiting.front();
    const bool handler = queue.model != view.application(queue.application).model;
    if (!handler) {
      const auto known = plans_.find(oldest.request);
      const std::size_t there = queue.model->stages[queue.model_stage].candidates.size();
      // A changed profile may have fewer rows than the plan was made from.
      if (known != plans_.end() && known->second.candidates[queue.model_stage] < there) return known->second;
    }
    const plan::OrionPlan& found = planner_.find(queue, queue.waiting.size(), (oldest.deadline - view.now).to_ms());
    Plan& plan = handler ? handler_ : plans_[oldest.request];
    plan = {found.candidates, found.states};
    return plan;
  }

  void note_members(const Queue& queue, const Proposals& out) {
    members_.clear();
    const std::uint32_t count = out.ranked.empty() ? 1 : out.ranked[0].members;
    for (std::uint32_t i = 0; i < count; ++i) members_.push_back(queue.waiting[i].request);
  }

  std::map<RequestId, Plan> plans_;  // of requests that have not ended: ended() drops them, so that none leaks
  std::vector<RequestId> waits_;     // by queue: the request whose planned configuration found no room
  QueuePass pass_;
  // Derived or of one instant only: not part of the state.
  OrionPlanner planner_;
  EsgPlacement placement_;
  Plan handler_;
  std::vector<RequestId> members_;  // of the batch that was proposed
};

}  // namespace

std::unique_ptr<Dispatch> make_orion(const Parameters& parameters) {
  return std::make_unique<Orion>(parameters);
}

}  // namespace sluice::policy
