#include "policy/reserved.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/check.h"
#include "policy/frontiers.h"
#include "policy/loading.h"
#include "policy/placing.h"
#include "policy/runnable.h"
#include "policy/scarcity.h"
#include "policy/waiting_order.h"

namespace sluice::policy {
namespace {

bool is_promised_in(const View& view, ApplicationId application) {
  return StagesToPlace::placeable(view.application(application).application->workflow);
}

// While more is asked for than can be done, every application gets the same share of its requests in: whoever takes
// little, or has more time, would else find all the gaps.
class Turns {
 public:
  // One more request came, and so much of it may be let in.
  void add(ApplicationId application, double share) {
    if (application.index() >= left_.size()) left_.resize(application.index() + 1, kMost);
    double& left = left_[application.index()];
    left = std::min(left + share, kMost);
  }
  [[nodiscard]] bool has_one(ApplicationId application) const {
    return application.index() >= left_.size() || left_[application.index()] >= 1;
  }
  void take(ApplicationId application) {
    if (application.index() >= left_.size()) return;
    double& left = left_[application.index()];
    left = std::max(left - 1, 0.0);
  }
  void visit(Archive& a) { a(left_); }

 private:
  static constexpr double kMost = 4;
  std::vector<double> left_;  // by ApplicationId
};

class Slo final : public Admission {
 public:
  Slo(const Parameters& parameters, std::unique_ptr<Admission> others)
      : cost_weight_(parameter_or(parameters, "cost_weight", 1)),
        prices_(parameter_or(parameters, "prices", 1) != 0),
        batches_(parameter_or(parameters, "batches", 1) != 0),
        others_(std::move(others)) {}

  Admitted admit(const View& view, const RequestArrived& request) override {
    const ApplicationModel& model = view.application(request.application);
    if (!is_promised_in(view, request.application)) {
      if (others_ != nullptr) return others_->admit(view, request);
      return {.accept = false, .reason = RejectReason::not_reservable};
    }
    const bool is_new = request.id != last_asked_;  // else it is asked about again
    if (is_new) {
      scarcity_.called(view, placing_.stages(), request.application);
      turns_.add(request.application, kOfCapacity / std::max(1.0, scarcity_.load()));
    }
    last_asked_ = request.id;
    if (const auto load = missing(view, model)) return {.accept = false, .load = load};
    const double doubt = doubt_of(view, request.application);
    // Not of the time that a request takes by itself: who is alone is let in, or nothing better would ever be learned.
    const double slack_ms =
        (request.deadline - view.now).to_ms() - placing_.stages().alone_ms(view, request.application);
    const Duration kept = Duration::ms(std::max(0.0, slack_ms) * kKeptBack * doubt);
    const bool exact = doubt < kExact, tight = prices_ && scarcity_.tight(), over = prices_ && scarcity_.over();
    if (over && !exact && !turns_.has_one(request.application)) return overloaded(view, request.deadline);
    const Placing::Request wanted{request.application, request.deadline - kept, request.deadline, request.cost_limit};
    const auto placed = placing_.place(view, wanted,
                                       {.cost_weight = cost_weight_,
                                        .scarcity = tight ? &scarcity_ : nullptr,
                                        .counts_waste = tight && exact,
                                        .opens = tight && batches_,
                                        .calls_per_ms = scarcity_.calls_per_ms(view, request.application),
                                        .company = scarcity_.company_of(request.application)});
    if (!placed) {
      if (const auto load = another(view, model, request)) return {.accept = false, .load = load};
      return refused(view, request, wanted);
    }
    if (over) {
      const double within = (wanted.deadline - view.now).to_ms() / placing_.stages().slower(view, request.application);
      const double allowed = scarcity_.least_of(view, placing_.stages(), request.application, within) * (1 + kSpoils);
      if (placed->taken > allowed) return overloaded(view, placed->finish);
    }
    const auto joins = [](const Reserved& r) { return r.joins.valid(); };
    scarcity_.promised(request.application, placed->stages.size(),
                       static_cast<std::size_t>(std::ranges::count_if(placed->stages, joins)));
    turns_.take(request.application);
    return {.promised = placed->finish, .cost = PicoDollars::from_dollars(placed->cost), .reserved = placed->stages};
  }

  [[nodiscard]] std::uint64_t derived_here() const override {
    return placing_.derived_here() + (others_ != nullptr ? others_->derived_here() : 0);
  }

  void visit(Archive& archive) override {
    archive(scarcity_, turns_, last_asked_, doubts_);
    if (others_ != nullptr) others_->visit(archive);
  }

 private:
  // While things are scarce, a request may take so much more of the cluster than it would at the least.
  static constexpr double kSpoils = 0.05;
  // What is kept back of the slack, where the slowest executions take twice as long as the usual ones.
  static constexpr double kKeptBack = 0.6;
  // Of what could be done at best, that is promised while more is asked for: between bookings of times that are not
  // known to the last microsecond some is always lost. More fills every gap up to the deadlines, with what takes more.
  static constexpr double kOfCapacity = 0.88;
  // Up to here times count as known: what a stretch is left with can be said, and who spoils much be refused.
  static constexpr double kExact = 0.02;

  // By how much executions may exceed the usual, for as long as nothing else was seen for long: plans that were made of
  // what was learned begin with no executions.
  double doubt_of(const View& view, ApplicationId application) {
    constexpr double kForgets = 0.995;
    if (application.index() >= doubts_.size()) doubts_.resize(application.index() + 1);
    double& doubt = doubts_[application.index()];
    return doubt = std::max(doubt * kForgets, placing_.stages().doubt(view, application));
  }

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
      constexpr double kEverything = std::numeric_limits<double>::infinity();
      const Wishes::Load wish{.function = function.id, .worth = kEverything, .oldest = {.since = view.now}};
      if (auto place = place_to_load(view, wish)) return place;
    }
    return std::nullopt;
  }

  // One more of a function, where nothing has to go for it: all that are there may be promised. One at a time is on its
  // way; whoever asks meanwhile may be promised a time on it.
  std::optional<Wishes::Load> another(const View& view, const ApplicationModel& model, const RequestArrived& request) {
    if (!some_cold(view) || placing_.stages().alone_ms(view, model.id) > (request.deadline - view.now).to_ms())
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
    any_time.deadline = any_time.due = view.now + kForEver;
    const auto late = placing_.place(view, any_time, {.cost_weight = 0});
    if (!late) return {.accept = false, .reason = RejectReason::no_capacity};
    const double needed = (late->finish - view.now).to_ms();
    Admitted out{.accept = false, .reason = RejectReason::slo_infeasible, .needed = needed, .available = available};
    // What is promised already is as much nearer then. Where no machine is fast enough nothing changes.
    if (placing_.stages().alone_ms(view, request.application) <= available)
      out.retry_after = Duration::ms(needed - available);
    return out;
  }

  // It could be in time, but what it would keep others from using is worth more.
  [[nodiscard]] Admitted overloaded(const View& view, Time again) const {
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
            .retry_after = std::max(Duration{}, again - view.now)};
  }

  static constexpr Duration kForEver = Duration::s(86'400);
  double cost_weight_;
  bool prices_, batches_;
  std::unique_ptr<Admission> others_;  // of applications that nothing can be promised to; null: they are refused
  Scarcity scarcity_;
  RequestId last_asked_;
  Turns turns_;
  std::vector<double> doubts_;  // by ApplicationId
  Placing placing_;             // derived, and scratch
};

// Starts what was promised when its time has come, those first that can wait the least, and earlier where that takes
// nothing from others. What has no promise (a retry, an error handler) takes the least that is free beside the
// promises.
class KeepPromises final : public Dispatch {
 public:
  void begin(const View& view) override {
    tried_.clear();
    order_.begin(view, [&](const Waiting& w) {
      const bool promised = w.reservation.valid();
      const int turn = !promised ? 2 : w.promised > view.now ? 1 : 0;
      return std::pair(turn, promised ? w.latest : w.ready);
    });
  }

  bool next(const View& view, Proposals& out) override {
    for (; !order_.over(); order_.go_on()) {
      const auto position = order_.position(view);
      if (position && propose(view, order_.queue(view), *position, out)) return true;
    }
    return false;
  }

  void decided(const View&, const Proposals&, std::optional<std::size_t>) override { order_.go_on(); }

  // For the admission that makes the promises.
  [[nodiscard]] Derive derives(const View&, ApplicationId) const override { return frontiers_derive(); }

  [[nodiscard]] std::optional<Time> next_wake(const View& view) const override {
    Wake wake(view.now);
    bool any_unpromised = false;
    for (const std::uint32_t q : view.busy_queues) {
      for (std::size_t i = 0; i < view.queues[q].waiting.size(); ++i) {
        const Waiting& w = view.queues[q].waiting[i];
        any_unpromised = any_unpromised || !w.reservation.valid();
        if (!w.reservation.valid()) continue;
        wake.at(w.promised);
        if (w.promised > view.now) continue;
        // It is late: promises to others may be in its way.
        const Booking& promise = promise_of(view, w);
        if (promise.members > 1) wake.at(promise.closes());  // those who are there go without the others
        wake.at(w.latest + kTick);
        at_promises(view.invokers[w.reserved_at.index()], wake);
      }
    }
    if (any_unpromised) {
      for (const Invoker& invoker : view.invokers) at_promises(invoker, wake);
    }
    return wake.first;
  }

  void visit(Archive&) override {}

 private:
  static constexpr Duration kTick = Duration::ns(1);

  // The first of several instants that are to come.
  struct Wake {
    explicit Wake(Time t) : now(t) {}
    void at(Time t) {
      if (t > now && (!first || t < *first)) first = t;
    }
    Time now;
    std::optional<Time> first;
  };
  // When what is promised on a machine begins or ends.
  static void at_promises(const Invoker& invoker, Wake& wake) {
    if (invoker.reserved == 0) return;
    for (const Booking& b : invoker.bookings) {
      if (!b.reserved) continue;
      wake.at(b.from);
      wake.at(b.to);
    }
  }

  bool propose(const View& view, const Queue& queue, std::uint32_t position, Proposals& out) {
    const Waiting& waiting = queue.waiting[position];
    out.clear();
    out.queue = queue.id;
    out.work.searches = 1;
    if (!waiting.reservation.valid()) return propose_unpromised(view, queue, position, out);
    if (view.now > waiting.latest) {
      out.drop = 1;
      out.drop_first = position;
      return true;
    }
    const Booking& promise = promise_of(view, waiting);
    const auto holds = [&](const Waiting& w) { return w.reservation == waiting.reservation; };
    std::uint32_t members = 1, first = position;
    if (promise.members > 1) {
      if (std::ranges::find(tried_, waiting.reservation) != tried_.end()) return false;  // with another of them
      tried_.push_back(waiting.reservation);
      members = 0;
      for (auto i = static_cast<std::uint32_t>(queue.waiting.size()); i-- > 0;) {
        if (!holds(queue.waiting[i])) continue;
        ++members;
        first = i;
      }
    }
    // It begins with all of them; without those who come late only once they cost the others time.
    if (members < promise.members && view.now < promise.closes()) return false;
    const Configuration c = as_small(queue, promise.configuration, members);
    const Invoker& invoker = view.invokers[waiting.reserved_at.index()];
    if (invoker.vcpu_free < c.vcpu || !view.allowed(queue, c)) return false;  // also where it drains
    out.ranked.push_back({.configuration = c,
                          .invoker = waiting.reserved_at,
                          .members = members,
                          .first = first,
                          .reservation = waiting.reservation,
                          .latest = waiting.latest});
    return true;
  }

  // With no more places than are taken, if that is no slower.
  static Configuration as_small(const Queue& queue, const Configuration& promised, std::uint32_t members) {
    if (promised.batch == members) return promised;
    const plan::Candidates& all = queue.model->stages[queue.model_stage].candidates;
    const plan::Candidate* best = plan::find(all, promised);
    if (best == nullptr) return promised;
    for (const plan::Candidate& c : all) {
      Configuration same = c.configuration;
      same.batch = promised.batch;
      if (same != promised || c.configuration.batch < members || c.ms > best->ms) continue;
      if (c.configuration.batch < best->configuration.batch) best = &c;
    }
    return best->configuration;
  }

  static bool propose_unpromised(const View& view, const Queue& queue, std::uint32_t position, Proposals& out) {
    const Configuration c = least_runnable(view, queue);
    for (const Invoker& invoker : view.invokers) {
      if (view.fits(queue, c, invoker.id.value()))
        out.ranked.push_back({.configuration = c, .invoker = invoker.id, .first = position});
    }
    return true;
  }

  static const Booking& promise_of(const View& view, const Waiting& waiting) {
    const auto& bookings = view.invokers[waiting.reserved_at.index()].bookings;
    const auto it = std::ranges::find_if(
        bookings, [&](const Booking& b) { return b.reserved && b.owner == waiting.reservation.value(); });
    CHECK_MSG(it != bookings.end(), "a promise is not in the books");
    return *it;
  }

  // Of one instant only: not part of the state.
  WaitingOrder<std::pair<int, Time>> order_;
  std::vector<ReservationId> tried_;  // those of several
};

// Promises first; then applications that nothing was promised to, as another dispatch wants, with what is left.
class BesidePromises final : public Dispatch {
 public:
  explicit BesidePromises(std::unique_ptr<Dispatch> others) : others_(std::move(others)) {}

  void queued(const View& view, const Queue& queue) override {
    if (!is_promised_in(view, queue.application)) others_->queued(view, queue);
  }
  void ran(const View& view, const Ran& batch) override {
    if (!is_promised_in(view, view.queue(batch.queue).application)) others_->ran(view, batch);
  }
  void begin(const View& view) override {
    promised_.clear();
    left_.clear();
    for (const std::uint32_t q : view.busy_queues)
      (is_promised_in(view, view.queues[q].application) ? promised_ : left_).push_back(q);
    promises_.begin(with(view, promised_));
    others_begun_ = false;
  }
  bool next(const View& view, Proposals& out) override {
    if (!others_begun_) {
      if (promises_.next(with(view, promised_), out)) return true;
      others_begun_ = true;
      others_->begin(with(view, left_));
    }
    return others_->next(with(view, left_), out);
  }
  void decided(const View& view, const Proposals& proposals, std::optional<std::size_t> booked) override {
    if (others_begun_)
      others_->decided(with(view, left_), proposals, booked);
    else
      promises_.decided(with(view, promised_), proposals, booked);
  }
  void ended(const View& view, RequestId request) override { others_->ended(view, request); }
  void removed(const View& view, const Queue& queue) override { others_->removed(view, queue); }
  [[nodiscard]] Derive derives(const View& view, ApplicationId application) const override {
    return both(others_->derives(view, application), frontiers_derive());
  }
  [[nodiscard]] std::uint64_t derived_here() const override { return others_->derived_here(); }
  [[nodiscard]] std::optional<Time> next_wake(const View& view) const override {
    const auto promises = promises_.next_wake(with(view, promised_)), others = others_->next_wake(with(view, left_));
    if (!promises || !others) return promises ? promises : others;
    return std::min(*promises, *others);
  }
  void visit(Archive& archive) override { others_->visit(archive); }

 private:
  static View with(const View& view, const std::vector<std::uint32_t>& busy) {
    View out = view;
    out.busy_queues = busy;
    return out;
  }

  KeepPromises promises_;
  std::unique_ptr<Dispatch> others_;
  // Of one instant only: not part of the state.
  std::vector<std::uint32_t> promised_, left_;
  bool others_begun_ = false;
};

}  // namespace

std::unique_ptr<Admission> make_slo_admission(const Parameters& parameters, std::unique_ptr<Admission> others) {
  return std::make_unique<Slo>(parameters, std::move(others));
}
std::unique_ptr<Dispatch> make_reserved_dispatch(std::unique_ptr<Dispatch> others) {
  if (others == nullptr) return std::make_unique<KeepPromises>();
  return std::make_unique<BesidePromises>(std::move(others));
}

}  // namespace sluice::policy
