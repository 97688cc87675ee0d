// Who is let in by `sluice`: every request needs some slices (or vCPUs, where it runs without slices) on average until
// its deadline; the sum over all that are in the system may not exceed a share of the cluster's. So a burst the cluster
// can absorb is let in, and what would have to be given up later is refused at once. `fair`: whoever comes while it is
// full is refused; else only the application that takes the most, which meets more requests and starves that one.
#include <algorithm>

#include "policy/sluice_parts.h"

namespace sluice::policy {

Taken request_taken_ms(const View& view, const SluiceState& state, ApplicationId application) {
  Taken sum;
  for (const Queue& queue : view.queues) {
    if (queue.application == application && queue.handler == nullptr && queue.id.index() < state.taken_ms.size()) {
      sum = sum + state.taken_ms[queue.id.index()];
    }
  }
  return sum;
}

void look_at_cluster(const View& view, SluiceState& state) {
  constexpr Duration kOld = Duration::ms(50);
  if (!state.usable.none() && view.now - state.looked_at < kOld) return;
  state.looked_at = view.now;
  state.usable = {};
  for (const Invoker& invoker : view.invokers) {
    if (!invoker.usable) continue;
    state.usable.vcpus += invoker.vcpu;
    for (const Gpu& gpu : invoker.gpus) state.usable.slices += gpu.slices;
  }
  Taken busy;
  for (std::size_t q = 0; q < state.calls.size(); ++q) {
    busy = busy + state.taken_ms[q] * state.calls[q].per_ms(view.now);
  }
  state.load = busy.share_of(state.usable);
}

namespace {

class SluiceAdmission final : public Admission {
 public:
  SluiceAdmission(const SluiceSettings& settings, std::shared_ptr<SluiceState> state)
      : settings_(settings), state_(std::move(state)) {}

  Admitted admit(const View& view, const RequestArrived& request) override {
    state_->grow(view);
    see_objective(view, request);
    if (!settings_.shed) return {};
    look_at_cluster(view, *state_);
    const Taken needs =
        request_taken_ms(view, *state_, request.application) / std::max(1.0, (request.deadline - view.now).to_ms());
    const Taken needed = state_->needed + needs, &usable = state_->usable;
    const Taken limit{usable.slices * settings_.load, usable.vcpus * settings_.vcpu_load};
    const bool slices = needed.slices > limit.slices, vcpus = needed.vcpus > limit.vcpus;
    if ((slices || vcpus) && !state_->needs.empty() && !spared(view, request.application)) {
      return slices ? full(needed.slices, limit.slices, request.deadline - view.now)
                    : full(needed.vcpus, limit.vcpus, request.deadline - view.now);
    }
    state_->needs.emplace(request.id, needs);
    state_->needed = needed;
    return {};
  }

  // The dispatch saves the state.
  void visit(Archive&) override {}

 private:
  // It may try again when the machines have done the work that is too much until its deadline; others may come first.
  static Admitted full(double needed, double available, Duration objective) {
    if (available <= 0) return {.accept = false, .reason = RejectReason::no_capacity, .needed = needed};
    return {.accept = false,
            .reason = RejectReason::overloaded,
            .needed = needed,
            .available = available,
            .retry_after = objective * ((needed - available) / available)};
  }

  void see_objective(const View& view, const RequestArrived& request) {
    double& horizon = state_->horizon_ms[request.application.index()];
    const double objective = std::max(1.0, (request.deadline - view.now).to_ms());
    if (horizon == 0) horizon = objective;
    if (objective > horizon) horizon = objective * 1.25;
  }

  // Whether others are refused before this application is.
  [[nodiscard]] bool spared(const View& view, ApplicationId application) const {
    if (settings_.fair) return false;
    const auto share = [&](ApplicationId id) { return request_taken_ms(view, *state_, id).share_of(state_->usable); };
    const double own = share(application);
    return std::any_of(view.applications.begin(), view.applications.end(),
                       [&](const ApplicationModel& other) { return share(other.id) > own; });
  }

  SluiceSettings settings_;
  std::shared_ptr<SluiceState> state_;
};

}  // namespace

std::unique_ptr<Admission> make_sluice_admission(const SluiceSettings& settings, std::shared_ptr<SluiceState> state) {
  return std::make_unique<SluiceAdmission>(settings, std::move(state));
}

}  // namespace sluice::policy
