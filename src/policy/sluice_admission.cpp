// Who is let in by `sluice`: every request needs some slices (or vCPUs, where it runs without slices) on average until
// its deadline; the sum over all that are in the system may not exceed a share of the cluster's. So a burst the cluster
// can absorb is let in, and what would have to be given up later is refused at once. `fair`: whoever comes while it is
// full is refused; else only the application that takes the most, which meets more requests and starves that one.
#include <algorithm>
#include <map>

#include "policy/sluice_parts.h"

namespace sluice::policy {

Taken request_taken_ms(const View& view, const SluiceState& state, ApplicationId application) {
  Taken sum;
  for (const Queue& queue : view.queues) {
    if (queue.application == application && queue.handler == nullptr && queue.id.index() < state.taken_ms.size()) {
      // By its share of the requests and its items.
      sum = sum + state.taken_ms[queue.id.index()] * queue.model->stages[queue.model_stage].scale.cost;
    }
  }
  return sum;
}

std::vector<NodeGroup> shapes_in(const View& view) {
  std::vector<NodeGroup> out;
  for (const Invoker& invoker : view.invokers) {
    if (!invoker.usable) continue;
    const NodeGroup shape = invoker.shape();
    if (std::find(out.begin(), out.end(), shape) == out.end()) out.push_back(shape);
  }
  return out;
}

void look_at_cluster(const View& view, SluiceState& state) {
  constexpr Duration kOld = Duration::ms(50);
  if (!state.usable.none() && view.now - state.looked_at < kOld) return;
  state.looked_at = view.now;
  state.usable = {};
  state.shapes = shapes_in(view);
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
    state_->forget_late(view.now);
    look_at_cluster(view, *state_);
    if (const auto cost = too_dear(view, request)) return *cost;
    const Taken needs =
        request_taken_ms(view, *state_, request.application) / std::max(1.0, (request.deadline - view.now).to_ms());
    const Taken needed = state_->needed + needs, &usable = state_->usable;
    const Taken limit = Taken{usable.slices * settings_.load * state_->slices.share(),
                              usable.vcpus * settings_.vcpu_load * state_->vcpus.share()} *
                        share_of(request);
    const bool slices = needed.slices > limit.slices, vcpus = needed.vcpus > limit.vcpus;
    if (settings_.shed && (slices || vcpus) && !state_->inside.empty() && !spared(view, request.application)) {
      state_->applications[request.application.index()].price.refused();
      return slices ? full(needed.slices, limit.slices, request.deadline - view.now)
                    : full(needed.vcpus, limit.vcpus, request.deadline - view.now);
    }
    state_->inside.emplace(request.id, Inside{.application = request.application,
                                              .needs = needs,
                                              .slices = needs.slices > 0,
                                              .vcpus = needs.vcpus > 0,
                                              .arrival = view.now,
                                              .deadline = request.deadline});
    state_->due[request.deadline].push_back(request.id);
    state_->applications[request.application.index()].crowd.came(view.now);
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

  // Whether not even full batches of the cheapest configurations keep to the cost that is asked for.
  std::optional<Admitted> too_dear(const View& view, const RequestArrived& request) {
    if (!request.cost_limit) return std::nullopt;
    const Dollars least = least_of(view, view.application(request.application));
    if (PicoDollars::from_dollars(least) <= *request.cost_limit) return std::nullopt;
    return Admitted{.accept = false,
                    .reason = RejectReason::cost_exceeded,
                    .needed = least,
                    .available = request.cost_limit->to_dollars()};
  }

  Dollars least_of(const View& view, const ApplicationModel& application) {
    Least& known = least_[application.id];
    if (known.model == application.model) return known.cost;
    known = {application.model, least_cost(*application.model)};
    std::erase_if(least_, [&](const auto& other) { return view.application(other.first).removed; });
    return least_.at(application.id).cost;
  }

  // How much of what may be promised is open to a priority: 1 is the highest, 0 the usual, larger ones are less. When
  // the machines are full, the less important are refused first.
  static double share_of(const RequestArrived& request) {
    constexpr double kMore = 1.1, kLess = 0.1, kLeast = 0.5;
    if (request.priority <= 1) return request.priority == 1 ? kMore : 1;
    return std::max(kLeast, 1 - kLess * (request.priority - 1));
  }

  // Whether others are refused before this application is.
  [[nodiscard]] bool spared(const View& view, ApplicationId application) const {
    if (settings_.fair) return false;
    const auto share = [&](ApplicationId id) { return request_taken_ms(view, *state_, id).share_of(state_->usable); };
    const double own = share(application);
    return std::any_of(view.applications.begin(), view.applications.end(),
                       [&](const ApplicationModel& other) { return share(other.id) > own; });
  }

  struct Least {
    std::shared_ptr<const plan::WorkflowModel> model;
    Dollars cost = 0;
  };
  SluiceSettings settings_;
  std::shared_ptr<SluiceState> state_;
  std::map<ApplicationId, Least> least_;  // derived; of those that are called with a limit
};

}  // namespace

std::unique_ptr<Admission> make_sluice_admission(const SluiceSettings& settings, std::shared_ptr<SluiceState> state) {
  return std::make_unique<SluiceAdmission>(settings, std::move(state));
}

}  // namespace sluice::policy
