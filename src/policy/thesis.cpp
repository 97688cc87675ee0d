#include "policy/thesis.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "base/rng.h"
#include "plan/evaluate.h"
#include "policy/frontiers.h"
#include "policy/runnable.h"
#include "policy/waiting_order.h"

namespace sluice::policy {
namespace {

// A candidate for every stage of a model.
using Assignment = std::vector<std::uint32_t>;

// The fastest of one invocation; of equal ones the least. A profile without batch 1 runs a part of its smallest batch.
std::uint32_t fastest(const plan::Candidates& candidates, bool (*counts)(const Configuration&)) {
  const auto key = [&](const plan::Candidate& c) {
    return std::tuple(!counts(c.configuration), c.configuration.batch, c.ms, c.configuration);
  };
  const auto best = std::min_element(candidates.begin(), candidates.end(),
                                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return static_cast<std::uint32_t>(best - candidates.begin());
}

bool any_device(const Configuration&) {
  return true;
}
bool on_cpu(const Configuration& c) {
  return c.slices == 0;
}
bool on_gpu(const Configuration& c) {
  return c.slices > 0;
}

// Every stage in the fastest configuration of one kind of device; nothing if a stage has none.
std::optional<Assignment> all_on(const plan::WorkflowModel& model, bool (*device)(const Configuration&)) {
  Assignment out;
  for (const plan::ModelStage& stage : model.stages) {
    if (stage.candidates.empty()) {  // it runs nothing
      out.push_back(0);
      continue;
    }
    const std::uint32_t best = fastest(stage.candidates, device);
    if (!device(stage.candidates[best].configuration)) return std::nullopt;
    out.push_back(best);
  }
  return out;
}

plan::Totals totals_of(const plan::WorkflowModel& model, const Assignment& assignment) {
  std::vector<plan::StageTerms> terms;
  for (std::size_t s = 0; s < model.stages.size(); ++s) {
    const plan::ModelStage& stage = model.stages[s];
    if (stage.candidates.empty()) {
      terms.push_back({stage.wait_ms, 0});
      continue;
    }
    const plan::Candidate& c = stage.candidates[assignment[s]];
    terms.push_back(stage.scale.of(c.ms, c.cost * c.configuration.batch));
    terms.back().ms += stage.wait_ms;
  }
  return plan::evaluate(model.tree, terms);
}

// Nothing: neither is in time and within the limit.
std::optional<Assignment> whole_dag(const plan::WorkflowModel& model, double available_ms,
                                    std::optional<PicoDollars> limit) {
  for (const auto device : {on_gpu, on_cpu}) {
    auto assignment = all_on(model, device);
    if (!assignment) continue;
    const plan::Totals whole = totals_of(model, *assignment);
    if (whole.ms <= available_ms && (!limit || PicoDollars::from_dollars(whole.cost) <= *limit)) return assignment;
  }
  return std::nullopt;
}

class WholeDag final : public Admission {
 public:
  Admitted admit(const View& view, const RequestArrived& request) override {
    const plan::WorkflowModel& model = *view.application(request.application).model;
    const double available = (request.deadline - view.now).to_ms();
    if (whole_dag(model, available, request.cost_limit)) return {};
    const auto cpu = all_on(model, on_cpu), gpu = all_on(model, on_gpu);
    const double needed =
        std::min(cpu ? totals_of(model, *cpu).ms : INFINITY, gpu ? totals_of(model, *gpu).ms : INFINITY);
    if (std::isinf(needed)) return {.accept = false, .reason = RejectReason::no_capacity};
    if (needed > available)
      return {.accept = false, .reason = RejectReason::slo_infeasible, .needed = needed, .available = available};
    const double cost =
        std::min(cpu ? totals_of(model, *cpu).cost : INFINITY, gpu ? totals_of(model, *gpu).cost : INFINITY);
    return {.accept = false,
            .reason = RejectReason::cost_exceeded,
            .needed = cost,
            .available = request.cost_limit->to_dollars()};
  }
  void visit(Archive&) override {}
};

// A configuration for every stage of a model: candidates may move when a profile changes.
using Fixed = std::vector<Configuration>;

class ThesisDispatch final : public Dispatch {
 public:
  ThesisDispatch(Thesis system, const Parameters& parameters)
      : system_(system),
        own_(parameter_or(parameters, "own", 0) != 0),
        seed_(static_cast<std::uint64_t>(parameter_or(parameters, "seed", 1))) {}

  // The first stage that waits of a request fixes all of them.
  void queued(const View& view, const Queue& queue) override {
    if (system_ == Thesis::fifo || queue.handler != nullptr) return;
    const Waiting& waiting = queue.waiting[queue.waiting.size() - 1];
    if (!seen_.emplace(waiting.request, Fixed{}).second) return;
    Fixed fixed = choose(view, queue, waiting);
    if (system_ == Thesis::random && !own_)
      shared_[queue.application] = std::move(fixed);
    else
      seen_[waiting.request] = std::move(fixed);
  }
  void ended(const View&, RequestId request) override { seen_.erase(request); }

  void begin(const View& view) override {
    order_.begin(view, [](const Waiting& w) { return w.arrival; });
  }

  bool next(const View& view, Proposals& out) override {
    for (; !order_.over(); order_.go_on()) {
      const Queue& queue = order_.queue(view);
      const auto position = order_.position(view);
      if (!position) continue;
      const Configuration c = configuration_of(view, queue, queue.waiting[*position]);
      out.clear();
      for (const Invoker& invoker : view.invokers) {
        if (view.fits(queue, c, invoker.id.value()))
          out.ranked.push_back({.configuration = c, .invoker = invoker.id, .first = *position});
      }
      // On cold machines functions are loaded where some configuration runs, which need not be the one that was fixed.
      if (out.ranked.empty()) {
        const Configuration least = least_runnable(view, queue);
        for (const Invoker& invoker : view.invokers) {
          if (!invoker.warm && view.fits(queue, least, invoker.id.value()))
            out.ranked.push_back({.configuration = least, .invoker = invoker.id, .first = *position});
        }
      }
      if (out.ranked.empty()) continue;
      out.queue = queue.id;
      out.work.searches = 1;
      return true;
    }
    return false;
  }

  void decided(const View&, const Proposals&, std::optional<std::size_t>) override { order_.go_on(); }

  void removed(const View&, const Queue& queue) override { frontiers_.forget(queue); }
  [[nodiscard]] Derive derives(const View&, ApplicationId) const override {
    return system_ == Thesis::random ? frontiers_derive() : Derive{};
  }
  [[nodiscard]] std::uint64_t derived_here() const override { return frontiers_.made_here(); }

  void visit(Archive& archive) override { archive(drawn_, seen_, shared_); }

 private:
  Fixed choose(const View& view, const Queue& queue, const Waiting& waiting) {
    const plan::WorkflowModel& model = *view.application(queue.application).model;
    std::optional<Assignment> assignment;
    if (system_ == Thesis::whole_dag)
      assignment = whole_dag(model, (waiting.deadline - view.now).to_ms(), waiting.to_spend);
    else
      assignment = draw(*frontiers_.of(view, queue.application));
    if (!assignment) assignment = all_on(model, any_device);
    Fixed out;
    for (std::size_t s = 0; s < model.stages.size(); ++s) {
      const plan::Candidates& candidates = model.stages[s].candidates;
      out.push_back(candidates.empty() ? Configuration{} : candidates[(*assignment)[s]].configuration);
    }
    return out;
  }

  // One of the plans that no other dominates, each as likely.
  Assignment draw(const plan::FrontierPlanner& planner) {
    const plan::BatchCap cap = planner.whole(1).empty() ? plan::kNoBatchCap : 1;
    const plan::Frontier& whole = planner.whole(cap);
    Assignment out(planner.model().stages.size(), 0);
    if (whole.empty()) return out;
    Rng rng = Rng::keyed(seed_, ++drawn_);
    const double ms = whole[rng.below(whole.size())].ms;
    const std::size_t entry = planner.model().entry();
    const auto options = planner.query(entry, cap, ms, workspace_);
    if (options.empty()) return out;
    for (const plan::ChosenStage& chosen : planner.plan_of(entry, options.front(), workspace_).stages)
      out[chosen.stage] = chosen.candidate;
    return out;
  }

  // What was fixed; where no machine can run that, the least that one can.
  Configuration configuration_of(const View& view, const Queue& queue, const Waiting& waiting) const {
    const plan::Candidates& candidates = queue.model->stages[queue.model_stage].candidates;
    Configuration wanted = candidates[fastest(candidates, any_device)].configuration;
    if (queue.handler == nullptr) {
      const Fixed* fixed = nullptr;
      if (const auto own = seen_.find(waiting.request); own != seen_.end() && !own->second.empty())
        fixed = &own->second;
      else if (const auto all = shared_.find(queue.application); all != shared_.end())
        fixed = &all->second;
      if (fixed != nullptr && queue.model_stage < fixed->size() && plan::find(candidates, (*fixed)[queue.model_stage]))
        wanted = (*fixed)[queue.model_stage];
    }
    return runs_somewhere(view, queue, wanted) ? wanted : least_runnable(view, queue);
  }

  Thesis system_;
  bool own_;
  std::uint64_t seed_, drawn_ = 0;
  std::map<RequestId, Fixed> seen_;  // requests in the system; empty: the application's
  std::map<ApplicationId, Fixed> shared_;
  // Derived, or of one instant only: not part of the state.
  WaitingOrder<Time> order_;
  Frontiers frontiers_;
  plan::FrontierWorkspace workspace_;
};

}  // namespace

std::unique_ptr<Dispatch> make_thesis(Thesis system, const Parameters& parameters) {
  return std::make_unique<ThesisDispatch>(system, parameters);
}
std::unique_ptr<Admission> make_whole_dag_admission() {
  return std::make_unique<WholeDag>();
}

}  // namespace sluice::policy
