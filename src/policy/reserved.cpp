#include "policy/reserved.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/check.h"
#include "domain/graph.h"
#include "policy/runnable.h"
#include "policy/timeline.h"
#include "profile/transfer.h"

namespace sluice::policy {
namespace {

// Where and when the stages of one request would run.
struct Placed {
  std::vector<Reserved> stages;
  Time finish;
  Dollars cost = 0;
};

bool reservable(const Workflow& workflow) {
  return std::all_of(workflow.stages.begin(), workflow.stages.end(), [](const Stage& s) {
    return !s.foreach && (s.kind == Stage::Kind::run || s.kind == Stage::Kind::pass);
  });
}

class Slo final : public Admission {
 public:
  // Plans get faster, and dearer, until one fits between what is promised already.
  Admitted admit(const View& view, const RequestArrived& request) override {
    const ApplicationModel& model = view.application(request.application);
    if (!reservable(model.application->workflow)) return {.accept = false, .reason = RejectReason::not_reservable};
    const double available = (request.deadline - view.now).to_ms();
    if (const Duration load = load_time(view, model); load > Duration{})
      return when_loaded(view, model, load, available);
    double budget = available, soonest = std::numeric_limits<double>::infinity();
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const auto ms = choose(*model.planner, budget);
      if (!ms) break;
      const auto placed = place_all(view, model);
      if (!placed) return {.accept = false, .reason = RejectReason::no_capacity};
      if (placed->finish <= request.deadline) return within_cost(*placed, request);
      soonest = std::min(soonest, (placed->finish - view.now).to_ms());
      budget = std::min(budget - (placed->finish - request.deadline).to_ms(), *ms - kStepMs);
    }
    Admitted refused{
        .accept = false, .reason = RejectReason::slo_infeasible, .needed = soonest, .available = available};
    const plan::Frontier& whole = model.planner->whole(1);
    if (!std::isinf(soonest))
      refused.retry_after = Duration::ms(soonest - available);  // what is promised already is as much nearer then
    else if (!whole.empty())
      refused.needed = whole.fastest_ms();  // no plan is fast enough
    return refused;
  }

  void visit(Archive&) override {}

 private:
  // How long it takes until every function of the application is loaded somewhere; nothing if all are.
  static Duration load_time(const View& view, const ApplicationModel& model) {
    const auto warm = [](const Invoker& invoker) { return invoker.usable && invoker.warm; };
    if (view.invokers.empty() || std::any_of(view.invokers.begin(), view.invokers.end(), warm)) return {};
    Duration longest;
    for (const Queue& queue : view.queues) {
      if (queue.application != model.id || queue.handler != nullptr) continue;
      const SharedFunction& function = view.functions[queue.shared.index()];
      const auto ready = [&](const Instance& i) {
        return i.used && i.function == queue.shared && i.wanted == i.level &&
               i.level == level_at(view, function, view.invokers[i.invoker.index()]);
      };
      if (std::any_of(view.instances.begin(), view.instances.end(), ready)) continue;
      longest = std::max(longest, function.cold_start.total() + Duration::ms(1));
    }
    return longest;
  }

  // Nothing can be promised on what is not loaded. A request is let in without a promise if there is time to load
  // everything first; refused or not, its functions are loaded for those that come next.
  static Admitted when_loaded(const View& view, const ApplicationModel& model, Duration load, double available) {
    const plan::Frontier& whole = model.planner->whole(1);
    const double needed = load.to_ms() + (whole.empty() ? 0 : whole.fastest_ms());
    Admitted out{.needed = needed, .available = available, .loaded_by = view.now + load};
    if (needed <= available) return out;
    out.accept = false;
    out.retry_after = load;
    return out;
  }

  static constexpr int kAttempts = 8;
  static constexpr double kStepMs = 0.001;

  static Admitted within_cost(const Placed& placed, const RequestArrived& request) {
    const PicoDollars cost = PicoDollars::from_dollars(placed.cost);
    if (request.cost_limit && cost > *request.cost_limit) {
      return {.accept = false,
              .reason = RejectReason::cost_exceeded,
              .needed = placed.cost,
              .available = request.cost_limit->to_dollars()};
    }
    return {.promised = placed.finish, .cost = cost, .reserved = placed.stages};
  }

  // The cheapest configurations for a whole request within the budget, into chosen_ by stage of the model; how long the
  // plan takes on free machines. Nothing if none is fast enough.
  std::optional<double> choose(const plan::FrontierPlanner& planner, double budget_ms) {
    const std::size_t entry = entry_of(planner.model());
    const auto options = planner.query(entry, 1, budget_ms, workspace_);
    if (options.empty()) return std::nullopt;
    const plan::Option best = options.front();
    chosen_.assign(planner.model().stages.size(), 0);
    for (const plan::ChosenStage& stage : planner.plan_of(entry, best, workspace_).stages) {
      chosen_[stage.stage] = stage.candidate;
    }
    return best.ms;
  }

  static std::size_t entry_of(const plan::WorkflowModel& model) {
    auto node = model.tree.root();
    while (model.tree.nodes[node].kind != SeriesParallelTree::Kind::stage)
      node = model.tree.children_of(model.tree.nodes[node]).front();
    return model.tree.nodes[node].stage;
  }

  std::optional<Placed> place_all(const View& view, const ApplicationModel& model) {
    const Workflow& workflow = model.application->workflow;
    const auto graph = Graph::make(workflow);
    Placed out{.finish = view.now};
    std::vector<Time> ends(workflow.size(), view.now);
    std::vector<InvokerId> at(workflow.size());
    for (const Graph::Node s : std::get<Graph>(graph).topological_order()) {
      Time ready = view.now;
      for (const StageId before : workflow.stages[s].after) {
        ready = std::max(ready, ends[before.index()]);
        if (at[before.index()].valid()) at[s] = at[before.index()];
      }
      ends[s] = ready + workflow.stages[s].wait;
      const std::size_t model_stage = model.planner->model().find(workflow.stages[s].name);
      if (workflow.stages[s].kind != Stage::Kind::run || model_stage >= model.planner->model().stages.size()) continue;
      const Queue* queue = queue_of(view, model, s);
      CHECK(queue != nullptr);
      const plan::Candidate& candidate = runnable(view, *queue, model_stage);
      const auto reserved = place_stage(view, model, {s, candidate, queue->shared, ends[s], at[s]}, out.stages);
      if (!reserved) return std::nullopt;
      ends[s] = reserved->to;
      at[s] = reserved->invoker;
      out.cost += model.application->prices.per_ms(reserved->configuration) * (reserved->to - reserved->from).to_ms();
      out.finish = std::max(out.finish, reserved->to);
      out.stages.push_back(*reserved);
    }
    return out;
  }

  struct StageToPlace {
    std::uint32_t stage;
    const plan::Candidate& candidate;
    SharedFunctionId shared;
    Time ready;
    InvokerId near;  // where its inputs will be
  };

  // The earliest end; equal ones go to where the inputs are, then to the lowest id.
  static std::optional<Reserved> place_stage(const View& view, const ApplicationModel& model, const StageToPlace& stage,
                                             const std::vector<Reserved>& taken) {
    const Function& function = model.application->function(model.application->workflow.stages[stage.stage].function);
    std::optional<Reserved> best;
    for (const Invoker& invoker : view.invokers) {
      profile::BatchInputs inputs;
      if (stage.near.valid())
        (invoker.id == stage.near ? inputs.local : inputs.remote) = function.input_bytes.value_or(Bytes{});
      const Duration length = Duration::ms(stage.candidate.ms) + profile::transfer_time(view.transfer, inputs);
      const auto gap =
          first_gap(with(invoker, taken), stage.candidate.configuration, stage.shared, stage.ready, length);
      if (!gap) continue;
      const Time end = gap->from + length;
      if (best && (end > best->to || (end == best->to && invoker.id != stage.near))) continue;
      best = Reserved{stage.stage, invoker.id, stage.candidate.configuration, gap->positions, gap->from, end};
    }
    return best;
  }

  static const Queue* queue_of(const View& view, const ApplicationModel& model, std::uint32_t stage) {
    const FunctionId function = model.application->workflow.stages[stage].function;
    for (const Queue& queue : view.queues) {
      if (queue.application == model.id && queue.function == function && queue.handler == nullptr) return &queue;
    }
    return nullptr;
  }

  // What was chosen for the stage; where no machine can run that, the cheapest of one invocation that is as fast, or
  // the fastest.
  [[nodiscard]] const plan::Candidate& runnable(const View& view, const Queue& queue, std::size_t stage) const {
    const plan::Candidates& candidates = queue.planner->model().stages[stage].candidates;
    const plan::Candidate& chosen = candidates[chosen_[stage]];
    if (runs_somewhere(view, queue, chosen.configuration)) return chosen;
    const plan::Candidate* best = &chosen;
    const auto key = [&](const plan::Candidate& c) { return std::tuple(std::max(c.ms, chosen.ms), c.cost); };
    for (const plan::Candidate& c : candidates) {
      if (c.configuration.batch > 1 || !runs_somewhere(view, queue, c.configuration)) continue;
      if (best == &chosen || key(c) < key(*best)) best = &c;
    }
    return *best;
  }

  // The invoker with what earlier stages of the same request would take there.
  static Invoker with(const Invoker& invoker, const std::vector<Reserved>& taken) {
    Invoker out = invoker;
    for (const Reserved& r : taken) {
      if (r.invoker != invoker.id) continue;
      out.bookings.push_back(
          {.reserved = true, .from = r.from, .to = r.to, .configuration = r.configuration, .positions = r.positions});
    }
    return out;
  }

  // Scratch: not part of the state.
  plan::FrontierWorkspace workspace_;
  std::vector<std::uint32_t> chosen_;
};

// Starts what was promised when its time has come. What has no promise (a retry, an error handler) takes the least that
// is free beside the promises.
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
        const Time at = promise->from > view.now ? promise->from : latest(view.queues[q].waiting[i], *promise) + kTick;
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
    if (promise != nullptr && promise->from > view.now) return false;
    out.clear();
    out.queue = queue.id;
    out.work.searches = 1;
    if (promise != nullptr && view.now > latest(waiting, *promise)) {
      out.drop = 1;
      out.drop_first = position_;
      return true;
    }
    Proposal proposal{.first = position_};
    if (promise != nullptr) {
      proposal.configuration = promise->configuration;
      proposal.invoker = waiting.reserved_at;
      proposal.reservation = waiting.reservation;
      proposal.latest = latest(waiting, *promise);
      out.ranked.push_back(proposal);
      return true;
    }
    proposal.configuration = least_runnable(view, queue);
    for (const Invoker& invoker : view.invokers) {
      if (!view.fits(queue, proposal.configuration, invoker.id.value())) continue;
      proposal.invoker = invoker.id;
      out.ranked.push_back(proposal);
    }
    return true;
  }

  // The last start that still ends by the deadline, if what follows takes as long as was promised.
  static Time latest(const Waiting& waiting, const Booking& promise) {
    return std::max(promise.from, waiting.deadline - (promise.to - promise.from));
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

std::unique_ptr<Admission> make_slo_admission() {
  return std::make_unique<Slo>();
}
std::unique_ptr<Dispatch> make_reserved_dispatch() {
  return std::make_unique<KeepPromises>();
}

}  // namespace sluice::policy
