#include "policy/compose.h"

#include <algorithm>
#include <tuple>

#include "policy/frontiers.h"
#include "policy/runnable.h"
#include "policy/slack.h"

namespace sluice::policy {
namespace {

class Composed final : public Dispatch {
 public:
  explicit Composed(const Composition& composition) : composition_(composition) {}

  void begin(const View& view) override {
    order_.assign(view.busy_queues.begin(), view.busy_queues.end());
    if (order_.size() > 1) {
      std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(urgency(view, a), a) < std::tuple(urgency(view, b), b);
      });
    }
    at_ = 0;
    wake_.reset();
  }

  bool next(const View& view, Proposals& out) override {
    for (; at_ < order_.size(); ++at_) {
      const Queue& queue = view.queues[order_[at_]];
      if (queue.waiting.empty()) continue;
      propose(view, queue, out);
      return true;
    }
    return false;
  }

  void decided(const View& view, const Proposals& proposals, std::optional<std::size_t> booked) override {
    if (!booked || view.queue(proposals.queue).waiting.empty()) ++at_;
    if (booked && composition_.placement == Placement::round_robin)
      next_invoker_ = proposals.ranked[*booked].invoker.value() + 1;
  }

  void removed(const View&, const Queue& queue) override {
    rests_.forget(queue);
    frontiers_.forget(queue);
  }
  [[nodiscard]] Derive derives(const View&, ApplicationId) const override {
    return composition_.planning == Planning::frontier ? frontiers_derive() : Derive{};
  }
  [[nodiscard]] std::uint64_t derived_here() const override { return frontiers_.made_here(); }
  [[nodiscard]] std::optional<Time> next_wake(const View&) const override { return wake_; }
  void visit(Archive& archive) override { archive(next_invoker_); }

 private:
  // Smaller is first. Slack: time left beyond what the rest must take at least.
  [[nodiscard]] std::int64_t urgency(const View& view, std::uint32_t queue_index) {
    const Queue& queue = view.queues[queue_index];
    if (composition_.ordering == Ordering::fifo) return queue.waiting.front().ready.count_ns();
    return slack_ns(view, queue, rests_);
  }

  void propose(const View& view, const Queue& queue, Proposals& out) {
    out.clear();
    out.queue = queue.id;
    out.work.searches = 1;
    const auto waiting = static_cast<plan::BatchCap>(queue.waiting.size());
    const plan::Candidates& candidates = queue.model->stages[queue.model_stage].candidates;
    if (composition_.planning == Planning::frontier) {
      const double budget = (queue.waiting.front().deadline - view.now).to_ms() / (1 + composition_.margin);
      const plan::FrontierPlanner& planner = *frontiers_.of(view, queue);
      for (const plan::Option& option : planner.query(queue.model_stage, waiting, budget, workspace_)) {
        if (offer(view, queue, candidates[option.candidate].configuration, out)) return;  // the cheapest that fits
      }
      if (!workspace_.options.empty()) {  // it could be met, but nothing fits now, or ever: then it runs late
        const Time late = std::max(queue.waiting.front().deadline, view.now) + Duration::ns(1);
        if (!wake_ || late < *wake_) wake_ = late;
        return;
      }
      offer_fastest(view, queue, candidates, waiting, out);
      return;
    }
    (void)offer(view, queue, least_runnable(view, queue), out);
  }

  // Late anyway: the fastest configuration that fits.
  void offer_fastest(const View& view, const Queue& queue, const plan::Candidates& candidates, plan::BatchCap waiting,
                     Proposals& out) {
    by_ms_.clear();
    for (std::uint32_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].configuration.batch <= waiting) by_ms_.push_back(i);
    }
    std::sort(by_ms_.begin(), by_ms_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(candidates[a].ms, a) < std::tuple(candidates[b].ms, b);
    });
    for (const std::uint32_t i : by_ms_) {
      if (offer(view, queue, candidates[i].configuration, out)) return;
    }
  }

  bool offer(const View& view, const Queue& queue, const Configuration& c, Proposals& out) const {
    const auto invoker = place(composition_.placement, view, queue, c, next_invoker_);
    if (!invoker) return false;
    const auto members = static_cast<std::uint32_t>(std::min<std::size_t>(c.batch, queue.waiting.size()));
    out.ranked.push_back({.configuration = c, .invoker = InvokerId(*invoker), .members = members});
    return true;
  }

  Composition composition_;
  std::uint32_t next_invoker_ = 0;  // round robin
  // Derived, or of one instant only: not part of the state.
  FastestRests rests_{1};
  Frontiers frontiers_;
  std::vector<std::uint32_t> order_, by_ms_;
  std::size_t at_ = 0;
  std::optional<Time> wake_;
  plan::FrontierWorkspace workspace_;
};

}  // namespace

std::unique_ptr<Dispatch> compose(const Composition& composition) {
  return std::make_unique<Composed>(composition);
}

}  // namespace sluice::policy
