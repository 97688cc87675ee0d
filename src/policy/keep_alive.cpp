#include "policy/keep_alive.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "policy/runnable.h"

namespace sluice::policy {
namespace {

// What there is of a function now.
struct Stock {
  std::uint32_t instances = 0;  // ready or on their way
  std::uint32_t ready = 0;
  std::uint32_t loading = 0;
  std::uint32_t room = 0;  // batches that could start
  std::uint32_t waiting = 0;
};

// When calls of a function come.
struct Calls {
  std::uint64_t seen = 0;
  Time last;
  double gap_ms = 0;  // exponential mean
  void visit(Archive& a) { a(seen, last, gap_ms); }
};

Duration load_time(const SharedFunction& function) {
  return function.level == Level::device ? function.cold_start.total()
                                         : function.cold_start.process + function.cold_start.host;
}

class KeepWarm : public Prewarm {
 public:
  explicit KeepWarm(Duration keep_alive) : keep_alive_(keep_alive) {}

  void decide(const View& view, Wishes& out) override {
    count(view);
    planned_.assign(view.invokers.size(), Bytes{});
    for (const SharedFunction& function : view.functions) {
      const std::uint32_t wanted = std::max({for_waiting(function), target(view, function), announced(view, function)});
      const Stock& stock = stock_[function.id.index()];
      for (std::uint32_t i = stock.instances; i < wanted; ++i) want(view, function, out);
    }
    for (const Instance& instance : view.instances) {
      if (instance.used && instance.idle() && gone_at(view, instance) <= view.now) out.evict.push_back(instance.id);
    }
  }

  [[nodiscard]] std::optional<Time> next_wake(const View& view) const override {
    std::optional<Time> wake;
    const auto at = [&](Time t) {
      if (t > view.now && t < Time::max() && (!wake || t < *wake)) wake = t;
    };
    for (const Instance& instance : view.instances) {
      if (instance.used && instance.idle()) at(gone_at(view, instance));
    }
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
  // How many instances to have whether or not anybody waits.
  [[nodiscard]] virtual std::uint32_t target(const View&, const SharedFunction&) const { return 0; }
  // When an idle instance need not stay any longer.
  [[nodiscard]] virtual Time gone_at(const View& view, const Instance& instance) const {
    return stock_[instance.function.index()].waiting > 0 ||
                   announced(view, view.functions[instance.function.index()]) > 0
               ? Time::max()
               : instance.idle_since + keep_alive_;
  }
  // When the next load is due by itself; Time::max(): never.
  [[nodiscard]] virtual Time expected_load(const SharedFunction&) const { return Time::max(); }

  [[nodiscard]] const Stock& stock(SharedFunctionId function) const { return stock_[function.index()]; }
  Duration keep_alive_;

 private:
  void count(const View& view) {
    stock_.assign(view.functions.size(), {});
    for (const Instance& instance : view.instances) {
      if (!instance.used || instance.wanted < instance.level || instance.wanted == Level::none) continue;
      const SharedFunction& function = view.functions[instance.function.index()];
      // What only lies on the host, or was loaded where it cannot run, helps nobody.
      if (instance.wanted != level_at(view, function, view.invokers[instance.invoker.index()])) continue;
      Stock& stock = stock_[instance.function.index()];
      ++stock.instances;
      stock.loading += instance.loading() ? 1 : 0;
      stock.ready += instance.loading() ? 0 : 1;
      stock.room += instance.loading() ? 0 : instance.batches - instance.running;
    }
    for (const std::uint32_t queue : view.busy_queues) {
      stock_[view.queues[queue].shared.index()].waiting +=
          static_cast<std::uint32_t>(view.queues[queue].waiting.size());
    }
  }

  // Whoever waits while nothing is free wants more of it, by half of what is there at a time.
  [[nodiscard]] std::uint32_t for_waiting(const SharedFunction& function) const {
    const Stock& stock = stock_[function.id.index()];
    if (stock.waiting == 0 || stock.room > 0) return 0;
    return stock.ready + std::min(stock.waiting, 1 + stock.ready / 2);
  }

  [[nodiscard]] std::uint32_t announced(const View& view, const SharedFunction& function) const {
    for (const RequestAnnounced& a : view.announced) {
      if (a.expected - load_time(function) <= view.now && belongs(view, function, a.application)) return 1;
    }
    return 0;
  }

  static bool belongs(const View& view, const SharedFunction& function, ApplicationId application) {
    return std::any_of(function.queues.begin(), function.queues.end(),
                       [&](QueueId queue) { return view.queue(queue).application == application; });
  }

  // Of the machines that could run it, GPUs first, the one with the most free slices that has, or could make, room in
  // memory; then the most memory, then lowest id.
  void want(const View& view, const SharedFunction& function, Wishes& out) {
    std::optional<Wishes::Load> best;
    std::tuple<bool, Level, std::uint32_t, std::int64_t> best_rank;
    for (const Invoker& invoker : view.invokers) {
      if (!invoker.usable || invoker.warm) continue;
      const Level level = level_at(view, function, invoker);
      if (level == Level::none) continue;
      const bool device = level == Level::device;
      const std::size_t places = device ? invoker.gpus.size() : 1;
      for (std::size_t g = 0; g < places; ++g) {
        const Bytes free = (device ? invoker.gpus[g].memory_free : invoker.memory_free) - planned_[invoker.id.index()];
        if ((device ? invoker.gpus[g].memory : invoker.memory) < function.memory) continue;
        const std::tuple rank(free >= function.memory, level, device ? invoker.gpus[g].free_count() : invoker.vcpu_free,
                              free.count());
        if (best && rank <= best_rank) continue;
        best_rank = rank;
        best = Wishes::Load{function.id, invoker.id, level, static_cast<std::uint16_t>(g)};
      }
    }
    if (!best) return;
    planned_[best->invoker.index()] += function.memory;
    out.load.push_back(*best);
  }

  // Of one decision only: not part of the state.
  std::vector<Stock> stock_;
  std::vector<Bytes> planned_;  // by the wishes so far, per invoker
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
    if (calls == nullptr || function.queues.empty()) return 0;
    if (!rare(*calls, function)) {
      const Queue& queue = view.queue(function.queues.front());
      const double service = plan::least(queue.planner->model().stages[queue.model_stage].candidates).ms;
      constexpr double kInstancesMax = 10'000;
      return static_cast<std::uint32_t>(
          std::min(kInstancesMax, std::ceil(reserve_ * service / std::max(calls->gap_ms, 0.001))));
    }
    return view.now >= expected_load(function) && view.now < forgotten(*calls) ? 1 : 0;
  }

  [[nodiscard]] Time gone_at(const View& view, const Instance& instance) const override {
    const SharedFunction& function = view.functions[instance.function.index()];
    const Calls* calls = known(function);
    if (calls == nullptr) return KeepWarm::gone_at(view, instance);
    if (stock(instance.function).waiting > 0) return Time::max();
    if (rare(*calls, function)) {
      // Between two calls it is not needed; from shortly before the next it is.
      const bool needed_soon = view.now >= expected_load(function) && view.now < forgotten(*calls);
      return needed_soon ? forgotten(*calls) : instance.idle_since;
    }
    return stock(instance.function).instances > target(view, function) ? instance.idle_since + keep_alive_
                                                                       : Time::max();
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
  // A function that is not called for three times its usual gap is not waited for.
  static Time forgotten(const Calls& calls) { return calls.last + Duration::ms(3 * calls.gap_ms); }

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
std::unique_ptr<Prewarm> make_prewarm_ewma(const Parameters& parameters) {
  return std::make_unique<Ewma>(parameters);
}

}  // namespace sluice::policy
