#include "policy/reserved.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/check.h"
#include "policy/loading.h"
#include "policy/placing.h"
#include "policy/runnable.h"
#include "policy/scarcity.h"

namespace sluice::policy {
namespace {

class Slo final : public Admission {
 public:
  explicit Slo(const Parameters& parameters)
      : cost_weight_(parameter_or(parameters, "cost_weight", 1)), prices_(parameter_or(parameters, "prices", 1) != 0) {}

  Admitted admit(const View& view, const RequestArrived& request) override {
    const ApplicationModel& model = view.application(request.application);
    if (!Placing::placeable(model.application->workflow))
      return {.accept = false, .reason = RejectReason::not_reservable};
    if (request.id != last_asked_) scarcity_.called(view, request.application);  // else it is asked about again
    last_asked_ = request.id;
    if (const auto load = missing(view, model)) return {.accept = false, .load = load};
    const Placing::Request wanted{request.application, request.deadline, request.cost_limit};
    const bool scarce = prices_ && scarcity_.scarce();
    const auto placed =
        placing_.place(view, wanted, {.cost_weight = cost_weight_, .scarcity = scarce ? &scarcity_ : nullptr});
    if (!placed) {
      if (const auto load = another(view, model, request)) return {.accept = false, .load = load};
      return refused(view, request, wanted);
    }
    if (scarce && placed->taken > scarcity_.least_of(request.application) * (1 + kSpoils)) return spoils(view, *placed);
    return {.promised = placed->finish, .cost = PicoDollars::from_dollars(placed->cost), .reserved = placed->stages};
  }

  void visit(Archive& archive) override { archive(scarcity_, last_asked_); }

 private:
  // While things are scarce, a request may take so much more of the cluster than it would at the least.
  static constexpr double kSpoils = 0.05;

  // A function of the application that is loaded nowhere, and not on its way, and where it is best loaded.
  static std::optional<Wishes::Load> missing(const View& view, const ApplicationModel& model) {
    if (!some_cold(view)) return std::nullopt;
    const auto warm = [](const Invoker& invoker) { return invoker.usable && invoker.warm; };
    if (std::ranges::any_of(view.invokers, warm)) return std::nullopt;
    for (const Queue& queue : view.queues) {
      if (queue.application != model.id || queue.handler != nullptr) continue;
      const SharedFunction& function = view.functions[queue.shared.index()];
      const Stock stock = stock_of(view, function);
      if (stock.ready + stock.loading > 0) continue;
      constexpr double kAll = std::numeric_limits<double>::infinity();
      const Wishes::Load wish{.function = function.id, .worth = kAll, .oldest = {.since = view.now}};
      if (auto place = place_to_load(view, wish)) return place;
    }
    return std::nullopt;
  }

  // One more of a function, where nothing has to go for it: all that are there may be promised. One at a time is on its
  // way; whoever asks meanwhile may be promised a time on it.
  std::optional<Wishes::Load> another(const View& view, const ApplicationModel& model, const RequestArrived& request) {
    if (!some_cold(view) || placing_.alone_ms(view, model.id) > (request.deadline - view.now).to_ms())
      return std::nullopt;
    for (const Queue& queue : view.queues) {
      if (queue.application != model.id || queue.handler != nullptr) continue;
      if (stock_of(view, view.functions[queue.shared.index()]).loading > 0) continue;
      if (auto place = place_to_load(view, {.function = queue.shared, .worth = 0, .oldest = {.since = view.now}}))
        return place;
    }
    return std::nullopt;
  }

  // With what would have been possible: the soonest end whatever it costs, else the least cost that is in time.
  Admitted refused(const View& view, const RequestArrived& request, const Placing::Request& wanted) {
    const double available = (request.deadline - view.now).to_ms();
    Placing::Request any_cost = wanted;
    any_cost.cost_limit.reset();
    if (wanted.cost_limit) {
      if (const auto dear = placing_.place(view, any_cost, {.cost_weight = 1})) {
        return {.accept = false,
                .reason = RejectReason::cost_exceeded,
                .needed = dear->cost,
                .available = wanted.cost_limit->to_dollars()};
      }
    }
    Placing::Request any_time = any_cost;
    any_time.deadline = view.now + kForEver;
    const auto late = placing_.place(view, any_time, {.cost_weight = 0});
    if (!late) return {.accept = false, .reason = RejectReason::no_capacity};
    const double needed = (late->finish - view.now).to_ms();
    Admitted out{.accept = false, .reason = RejectReason::slo_infeasible, .needed = needed, .available = available};
    // What is promised already is as much nearer then. Where no machine is fast enough nothing changes.
    if (placing_.alone_ms(view, request.application) <= available) out.retry_after = Duration::ms(needed - available);
    return out;
  }

  // It could be in time, but what it would keep others from using is worth more.
  [[nodiscard]] Admitted spoils(const View& view, const Placed& placed) const {
    std::uint32_t slices = 0, vcpus = 0;
    for (const Invoker& invoker : view.invokers) {
      if (!invoker.usable) continue;
      vcpus += invoker.vcpu;
      for (const Gpu& gpu : invoker.gpus) slices += gpu.slices;
    }
    const double available = slices > 0 ? slices : vcpus;
    return {.accept = false,
            .reason = RejectReason::overloaded,
            .needed = available * scarcity_.load(),
            .available = available,
            .retry_after = placed.finish - view.now};
  }

  static constexpr Duration kForEver = Duration::s(86'400);
  double cost_weight_;
  bool prices_;
  Scarcity scarcity_;
  RequestId last_asked_;
  Placing placing_;  // derived, and scratch
};

// Starts what was promised when its time has come, or earlier where that takes nothing from others. What has no promise
// is left to another dispatch.
class KeepPromises final : public Dispatch {
 public:
  void begin(const View& view) override {
    order_.assign(view.busy_queues.begin(), view.busy_queues.end());
    at_ = position_ = 0;
  }

  bool next(const View& view, Proposals& out) override {
    for (; at_ < order_.size(); ++at_, position_ = 0) {
      const Queue& queue = view.queues[order_[at_]];
      for (; position_ < queue.waiting.size(); ++position_) {
        if (propose(view, queue, out)) return true;
      }
    }
    return false;
  }

  // What started or was dropped has left the queue, and the next one has its place.
  void told(const View&, const Proposals& proposals, std::optional<std::size_t> booked) override {
    if (!booked && proposals.drop == 0) ++position_;
  }

  [[nodiscard]] std::optional<Time> next_wake(const View& view) const override {
    std::optional<Time> wake;
    for (const std::uint32_t q : view.busy_queues) {
      for (std::size_t i = 0; i < view.queues[q].waiting.size(); ++i) {
        const Booking* promise = promise_of(view, view.queues[q].waiting[i]);
        if (promise == nullptr) continue;
        const Time at = promise->from > view.now ? promise->from : promise->latest + kTick;
        if (at > view.now && (!wake || at < *wake)) wake = at;
      }
    }
    return wake;
  }

  void visit(Archive&) override {}

 private:
  static constexpr Duration kTick = Duration::ns(1);

  bool propose(const View& view, const Queue& queue, Proposals& out) {
    const Waiting& waiting = queue.waiting[position_];
    const Booking* promise = promise_of(view, waiting);
    out.clear();
    out.queue = queue.id;
    out.work.searches = 1;
    if (promise == nullptr) return propose_unpromised(view, queue, out);
    if (view.now > promise->latest) {
      out.drop = 1;
      out.drop_first = position_;
      return true;
    }
    if (!view.fits(queue, promise->configuration, waiting.reserved_at.value())) return false;
    out.ranked.push_back({.configuration = promise->configuration,
                          .invoker = waiting.reserved_at,
                          .first = position_,
                          .reservation = waiting.reservation,
                          .latest = promise->latest});
    return true;
  }

  // A retry, an error handler: the least that is free beside the promises.
  bool propose_unpromised(const View& view, const Queue& queue, Proposals& out) const {
    const Configuration c = least_runnable(view, queue);
    for (const Invoker& invoker : view.invokers) {
      if (view.fits(queue, c, invoker.id.value()))
        out.ranked.push_back({.configuration = c, .invoker = invoker.id, .first = position_});
    }
    return true;
  }

  static const Booking* promise_of(const View& view, const Waiting& waiting) {
    if (!waiting.reservation.valid()) return nullptr;
    for (const Booking& booking : view.invokers[waiting.reserved_at.index()].bookings) {
      if (booking.reserved && booking.owner == waiting.reservation.value()) return &booking;
    }
    CHECK_MSG(false, "a promise is not in the books");
    return nullptr;
  }

  // Of one instant only: not part of the state.
  std::vector<std::uint32_t> order_;
  std::size_t at_ = 0;
  std::uint32_t position_ = 0;
};

}  // namespace

std::unique_ptr<Admission> make_slo_admission(const Parameters& parameters) {
  return std::make_unique<Slo>(parameters);
}
std::unique_ptr<Dispatch> make_reserved_dispatch() {
  return std::make_unique<KeepPromises>();
}

}  // namespace sluice::policy
