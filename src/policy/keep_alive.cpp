#include "policy/keep_alive.h"

#include <algorithm>
#include <cmath>

#include "policy/announced.h"
#include "policy/loading.h"

namespace sluice::policy {
namespace {

// When calls of a function come.
struct Calls {
  std::uint64_t seen = 0;
  Time last;
  double gap_ms = 0;  // exponential mean
  void visit(Archive& a) { a(seen, last, gap_ms); }
};

// How long idle instances of a function stay: to `until` at least, and `idle` after they did something last.
struct Stay {
  Time until;
  Duration idle;
  static Stay for_ever() { return {.until = Time::max(), .idle = {}}; }
  [[nodiscard]] Time of(const Instance& instance) const { return std::max(until, instance.idle_since + idle); }
};

class KeepWarm : public Prewarm {
 public:
  explicit KeepWarm(Duration keep_alive) : keep_alive_(keep_alive) {}

  void decide(const View& view, Wishes& out) override {
    for (const SharedFunction& function : view.functions) {
      const bool announced = is_announced(view, function);
      const std::uint32_t wanted = std::max({target(view, function), function.min_instances, announced ? 1u : 0u});
      if (wanted == 0) continue;
      const Stock stock = stock_of(view, function);
      if (stock.ready + stock.loading >= wanted) continue;
      const bool kept = stock.ready + stock.loading < function.min_instances;
      const double worth = kept || announced ? worth_soon(view, function) : worth_of_target(view, function);
      if (const auto place = place_to_load(view, {.function = function.id, .worth = worth})) out.load.push_back(*place);
    }
    for_idle(view, [&](const Instance& instance, Time gone_at) {
      if (gone_at <= view.now) out.evict.push_back(instance.id);
    });
    std::sort(out.evict.begin(), out.evict.end());  // instances of a function come in no order
  }

  [[nodiscard]] std::optional<Time> next_wake(const View& view) const override {
    std::optional<Time> wake;
    const auto at = [&](Time t) {
      if (t > view.now && t < Time::max() && (!wake || t < *wake)) wake = t;
    };
    for_idle(view, [&](const Instance&, Time gone_at) { at(gone_at); });
    for (const RequestAnnounced& a : view.announced) {
      for (const SharedFunction& function : view.functions) {
        if (belongs(view, function, a.application)) at(a.expected - load_time(function));
      }
    }
    for (const SharedFunction& function : view.functions) at(expected_load(function));
    return wake;
  }

  void visit(Archive&) override {}

 protected:
  // How many instances to have though nobody waits, and what having one more is worth (loading.h).
  [[nodiscard]] virtual std::uint32_t target(const View&, const SharedFunction&) const { return 0; }
  [[nodiscard]] virtual double worth_of_target(const View& view, const SharedFunction& function) const {
    return worth_of(view, function);
  }
  [[nodiscard]] virtual Stay stay(const View& view, const SharedFunction& function) const {
    if (is_waited_for(view, function) || is_announced(view, function)) return Stay::for_ever();
    return {.until = {}, .idle = keep_alive_};
  }
  // When the next load is due by itself; Time::max(): never.
  [[nodiscard]] virtual Time expected_load(const SharedFunction&) const { return Time::max(); }

  static bool is_waited_for(const View& view, const SharedFunction& function) {
    return std::any_of(function.queues.begin(), function.queues.end(),
                       [&](QueueId queue) { return !view.queue(queue).waiting.empty(); });
  }
  Duration keep_alive_;

 private:
  // The idle instances function by function, and when each need not stay any longer.
  template <class Each>
  void for_idle(const View& view, const Each& each) const {
    for (const SharedFunction& function : view.functions) {
      std::optional<Stay> stays;  // the same for all instances of the function
      for (const std::uint32_t slot : view.instances_of(function.id)) {
        const Instance& instance = view.instances[slot];
        if (!instance.idle() || is_kept(view, instance) || is_promised(view, instance)) continue;
        if (!stays) stays = function.queues.empty() ? Stay{} : stay(view, function);  // nobody can call it any more
        each(instance, stays->of(instance));
      }
    }
  }
};

// Loads the functions of stages that requests in the system will come to, while earlier stages run.
class Ahead final : public KeepWarm {
 public:
  using KeepWarm::KeepWarm;

 protected:
  [[nodiscard]] std::uint32_t target(const View& view, const SharedFunction& function) const override {
    return is_ahead(view, function) ? 1 : 0;
  }
  [[nodiscard]] double worth_of_target(const View& view, const SharedFunction& function) const override {
    return worth_soon(view, function);
  }
  [[nodiscard]] Stay stay(const View& view, const SharedFunction& function) const override {
    return is_ahead(view, function) ? Stay::for_ever() : KeepWarm::stay(view, function);
  }

 private:
  static bool is_ahead(const View& view, const SharedFunction& function) {
    return function.id.index() < view.demand.size() && view.demand[function.id.index()].ahead > 0;
  }
};

class Ewma final : public KeepWarm {
 public:
  explicit Ewma(const Parameters& parameters)
      : KeepWarm(Duration::s(parameter_or(parameters, "keep_alive_s", 600))),
        weight_(parameter_or(parameters, "ewma_weight", 0.3)),
        reserve_(parameter_or(parameters, "ewma_reserve", 1.2)) {}

  void queued(const View& view, const Queue& queue) override {
    if (calls_.size() < view.functions.size()) calls_.resize(view.functions.size());
    Calls& calls = calls_[queue.shared.index()];
    if (calls.seen > 0) {
      const double gap = (view.now - calls.last).to_ms();
      calls.gap_ms = calls.seen == 1 ? gap : weight_ * gap + (1 - weight_) * calls.gap_ms;
    }
    calls.last = view.now;
    ++calls.seen;
  }

  void visit(Archive& archive) override {
    KeepWarm::visit(archive);
    archive(calls_);
  }

 protected:
  [[nodiscard]] std::uint32_t target(const View& view, const SharedFunction& function) const override {
    const Calls* calls = known(function);
    if (calls == nullptr || function.queues.empty() || view.now >= forgotten(*calls, function)) return 0;
    if (!rare(*calls, function)) {
      const Queue& queue = view.queue(function.queues.front());
      const double service = plan::least(queue.model->stages[queue.model_stage].candidates).ms;
      constexpr double kInstancesMax = 10'000;
      return static_cast<std::uint32_t>(
          std::min(kInstancesMax, std::ceil(reserve_ * service / std::max(calls->gap_ms, 0.001))));
    }
    return view.now >= expected_load(function) ? 1 : 0;
  }

  [[nodiscard]] Stay stay(const View& view, const SharedFunction& function) const override {
    const Calls* calls = known(function);
    if (calls == nullptr) return KeepWarm::stay(view, function);
    if (is_waited_for(view, function)) return Stay::for_ever();
    if (rare(*calls, function)) {
      // Between two calls it is not needed; from shortly before the next it is.
      const Time until = forgotten(*calls, function);
      const bool needed_soon = view.now >= expected_load(function) && view.now < until;
      return {.until = needed_soon ? until : Time{}, .idle = {}};
    }
    const Stock stock = stock_of(view, function);
    if (stock.ready + stock.loading <= target(view, function)) return Stay::for_ever();
    return {.until = {}, .idle = keep_alive_};
  }

  // Early enough to be ready when the next call is expected, with half a load time in hand.
  [[nodiscard]] Time expected_load(const SharedFunction& function) const override {
    const Calls* calls = known(function);
    if (calls == nullptr || !rare(*calls, function)) return Time::max();
    return calls->last + Duration::ms(calls->gap_ms) - load_time(function) * 1.5;
  }

 private:
  [[nodiscard]] const Calls* known(const SharedFunction& function) const {
    const bool there = function.id.index() < calls_.size() && calls_[function.id.index()].seen >= 3;
    return there ? &calls_[function.id.index()] : nullptr;
  }
  static bool rare(const Calls& calls, const SharedFunction& function) {
    return calls.gap_ms > 4 * load_time(function).to_ms();
  }
  // A function that is not called for three times its usual gap, or ten loads, is not loaded ahead any more: what
  // others sent away would come back for nobody.
  static Time forgotten(const Calls& calls, const SharedFunction& function) {
    return calls.last + std::max(Duration::ms(3 * calls.gap_ms), load_time(function) * 10);
  }

  double weight_, reserve_;
  std::vector<Calls> calls_;  // SharedFunctionId is the position
};

}  // namespace

std::unique_ptr<Prewarm> make_prewarm_none() {
  return std::make_unique<KeepWarm>(Duration{});
}
std::unique_ptr<Prewarm> make_prewarm_keep_alive(const Parameters& parameters) {
  return std::make_unique<KeepWarm>(Duration::s(parameter_or(parameters, "keep_alive_s", 600)));
}
std::unique_ptr<Prewarm> make_prewarm_ahead(const Parameters& parameters) {
  return std::make_unique<Ahead>(Duration::s(parameter_or(parameters, "keep_alive_s", 600)));
}
std::unique_ptr<Prewarm> make_prewarm_ewma(const Parameters& parameters) {
  return std::make_unique<Ewma>(parameters);
}

}  // namespace sluice::policy
