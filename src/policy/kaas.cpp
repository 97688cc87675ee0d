#include "policy/kaas.h"

#include <tuple>

#include "policy/runnable.h"

namespace sluice::policy {
namespace {

class RoundRobin final : public Dispatch {
 public:
  void begin(const View&) override { blocked_ = false; }

  bool next(const View& view, Proposals& out) override {
    if (blocked_ || view.busy_queues.empty() || view.invokers.empty()) return false;
    const Queue* head = nullptr;
    for (const std::uint32_t i : view.busy_queues) {
      const Queue& queue = view.queues[i];
      if (queue.waiting.empty()) continue;
      if (head == nullptr || order(queue) < order(*head)) head = &queue;
    }
    if (head == nullptr) return false;
    out.clear();
    out.queue = head->id;
    out.work.searches = 1;
    const auto n = static_cast<std::uint32_t>(view.invokers.size());
    for (std::uint32_t i = 0; i < n; ++i, ++turn_) {
      const Invoker& invoker = view.invokers[turn_ % n];
      const Configuration* c = least_runnable_at(view, *head, invoker);
      if (c == nullptr) continue;
      if (view.fits(*head, *c, invoker.id.value())) out.ranked.push_back({.configuration = *c, .invoker = invoker.id});
      break;
    }
    return true;
  }

  void decided(const View&, const Proposals&, std::optional<std::size_t> booked) override {
    if (booked)
      ++turn_;
    else
      blocked_ = true;
  }

  void visit(Archive& archive) override { archive(turn_); }

 private:
  static std::tuple<Time, InvocationId> order(const Queue& queue) {
    return {queue.waiting.front().ready, queue.waiting.front().invocation};
  }
  std::uint32_t turn_ = 0;
  bool blocked_ = false;  // of one instant only
};

}  // namespace

std::unique_ptr<Dispatch> make_kaas_round_robin() {
  return std::make_unique<RoundRobin>();
}

}  // namespace sluice::policy
