#include "policy/stages_to_place.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/check.h"
#include "domain/graph.h"
#include "policy/runnable.h"
#include "policy/slice_positions.h"

namespace sluice::policy {
namespace {

using Candidates = std::vector<const plan::Candidate*>;
using Choices = std::vector<PlaceChoice>;

constexpr std::size_t kChoices = 8;
constexpr double kSpreadMost = 0.5;  // of times that were just learned it may be anything
constexpr double kUnplaceable = std::numeric_limits<double>::infinity();

const Queue* queue_of(const View& view, const ApplicationModel& model, std::size_t in_model) {
  for (const Queue& queue : view.queues) {
    if (queue.application == model.id && queue.model_stage == in_model && queue.handler == nullptr) return &queue;
  }
  return nullptr;
}

// Standard deviation, as a part of the time.
double spread_of(const PlaceChoice& choice) {
  return choice.ms > 0 ? std::min(kSpreadMost, choice.sd_ms / choice.ms) : 0;
}

// For every kind of device those that no other is faster and cheaper than, and the least, which fits where others do
// not. By time; of too many those spread from the first to the last.
Choices worth_a_look(const Candidates& candidates) {
  const auto same_kind = [](const plan::Candidate& a, const plan::Candidate& b) {
    return a.configuration.batch == b.configuration.batch && a.configuration.device == b.configuration.device;
  };
  Candidates kept;
  std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
  for (const plan::Candidate* c : candidates) fewest = std::min<std::uint32_t>(fewest, c->configuration.batch);
  for (const plan::Candidate* c : candidates) {
    if (c->configuration.batch > fewest) continue;
    const auto better = [&](const plan::Candidate* other) {
      return same_kind(*other, *c) && other->cost <= c->cost &&
             std::tuple(other->ms, other->cost, other->configuration) < std::tuple(c->ms, c->cost, c->configuration);
    };
    const auto key = [](const Configuration& of) { return std::tuple(of.slices, of.vcpu); };
    const auto less = [&](const plan::Candidate* other) {
      return same_kind(*other, *c) && key(other->configuration) < key(c->configuration);
    };
    if (std::ranges::none_of(candidates, better) || std::ranges::none_of(candidates, less)) kept.push_back(c);
  }
  std::ranges::sort(kept, [](const auto* a, const auto* b) {
    return std::tuple(a->ms, a->configuration) < std::tuple(b->ms, b->configuration);
  });
  Choices out;
  const std::size_t count = std::min(kept.size(), kChoices);
  for (std::size_t i = 0; i < count; ++i) {
    const plan::Candidate& c = *kept[count < 2 ? 0 : i * (kept.size() - 1) / (count - 1)];
    out.push_back({c.configuration, c.ms});
  }
  return out;
}

// Of every larger batch the one that takes the least, and the fastest.
Choices worth_sharing(const Candidates& candidates, std::uint32_t fewest) {
  const auto taken = [](const plan::Candidate* c) {
    return std::tuple(c->ms * std::max<std::uint32_t>(c->configuration.slices, c->configuration.vcpu), c->ms,
                      c->configuration);
  };
  const auto time = [](const plan::Candidate* c) { return std::tuple(c->ms, c->cost, c->configuration); };
  std::map<std::uint32_t, std::pair<const plan::Candidate*, const plan::Candidate*>> by_batch;
  for (const plan::Candidate* c : candidates) {
    if (c->configuration.batch == fewest) continue;
    auto& [least, fastest] = by_batch[c->configuration.batch];
    if (least == nullptr || taken(c) < taken(least)) least = c;
    if (fastest == nullptr || time(c) < time(fastest)) fastest = c;
  }
  Choices out;
  for (const auto& [batch, best] : by_batch) {
    out.push_back({best.first->configuration, best.first->ms});
    if (best.second != best.first) out.push_back({best.second->configuration, best.second->ms});
  }
  return out;
}

}  // namespace

// As long as the slowest of those that were seen lately took, with what they take besides on the way to a worker and
// back. The usual time instead, with more kept back before the deadline, broke a third of all promises under load where
// times were off by 30 %. Of few executions the slowest says little of the slowest there will be: what the profile says
// of their spread counts.
double promised_ms(const Queue& queue, const PlaceChoice& choice) {
  // A measured time is the expected one but for rounding: promises of exact times stay exact.
  constexpr double kSame = 1e-6;
  const double believed = queue.pace.slower() * (1 + PlaceChoice::kDeviations * spread_of(choice));
  const double slowest = std::max(queue.pace.slowest(), believed);
  return choice.ms * (std::abs(slowest - 1) < kSame ? 1 : slowest) + std::max(0.0, queue.pace.beside_ms());
}

bool StagesToPlace::placeable(const Workflow& workflow) {
  return workflow.stages.size() <= kStagesMax && std::ranges::all_of(workflow.stages, [](const Stage& s) {
           return !s.foreach && (s.kind == Stage::Kind::run || s.kind == Stage::Kind::pass);
         });
}

const PlaceOrder& StagesToPlace::of(const View& view, ApplicationId application) {
  const ApplicationModel& model = view.application(application);
  look_at_shapes(view);
  PlaceOrder& order = orders_[model.id];
  const TenantRoom room = view.tenants.empty() ? TenantRoom{} : view.tenants[model.tenant];
  const std::pair quota(room.vcpu_max, room.slices_max);
  if (order.model == model.model && order.quota == quota && !order.stages.empty()) return order;
  const Workflow& workflow = model.application->workflow;
  const Graph graph = std::get<Graph>(Graph::make(workflow));
  std::erase_if(orders_, [&](const auto& kept) { return view.application(kept.first).removed; });
  order = {.made = ++made_, .model = model.model, .quota = quota, .at = std::vector<std::uint32_t>(workflow.size())};
  for (const Graph::Node s : graph.topological_order()) {
    order.at[s] = static_cast<std::uint32_t>(order.stages.size());
    StageToPlace& out = order.stages.emplace_back(StageToPlace{.stage = s, .wait = workflow.stages[s].wait});
    for (const Graph::Node n : graph.predecessors(s)) out.before.push_back(n);
    for (const Graph::Node n : graph.successors(s)) out.after.push_back(n);
    const std::size_t in_model = model.model->find(workflow.stages[s].name);
    if (workflow.stages[s].kind != Stage::Kind::run || in_model >= model.model->stages.size()) continue;
    const Queue* queue = queue_of(view, model, in_model);
    CHECK(queue != nullptr);
    out.runs = true;
    out.queue = queue->id;
    out.in_model = in_model;
    add_choices(view, model, *queue, out);
  }
  Dollars cost = 0;
  for (std::size_t i = order.stages.size(); i-- > 0;) {
    StageToPlace& stage = order.stages[i];
    stage.rest_cost = cost;
    for (const std::uint32_t next : stage.after) {
      const StageToPlace& after = order.stages[order.at[next]];
      double least = after.runs ? kUnplaceable : 0;
      for (const PlaceChoice& c : after.choices) least = std::min(least, c.ms);
      stage.rest_ms = std::max(stage.rest_ms, after.wait.to_ms() + least + after.rest_ms);
    }
    double least = stage.runs ? kUnplaceable : 0;
    for (const PlaceChoice& c : stage.choices) least = std::min(least, c.most);
    cost += least;
  }
  return order;
}

// Those that some machine can hold, and that the tenant may take.
void StagesToPlace::add_choices(const View& view, const ApplicationModel& model, const Queue& queue,
                                StageToPlace& out) const {
  const plan::ModelStage& modelled = model.model->stages[out.in_model];
  Candidates possible;
  for (const plan::Candidate& c : modelled.candidates) {
    if (is_possible(view, queue, c.configuration)) possible.push_back(&c);
  }
  out.choices = worth_a_look(possible);
  if (!out.choices.empty()) out.batches = worth_sharing(possible, out.choices.front().configuration.batch);
  const auto most = [&](const Configuration& c) {
    Dollars dearest = 0;
    std::uint32_t fewer = 0;                                    // as many would run a smaller batch
    for (const plan::Candidate& other : modelled.candidates) {  // by batch
      Configuration same = other.configuration;
      same.batch = c.batch;
      if (same != c || other.configuration.batch > c.batch) continue;
      dearest = std::max(dearest, model.application->prices.per_ms(c) * other.ms / (fewer + 1));
      fewer = other.configuration.batch;
    }
    return dearest;
  };
  for (Choices* choices : {&out.choices, &out.batches}) {
    for (PlaceChoice& choice : *choices) {
      choice.most = most(choice.configuration);
      const plan::Candidate* candidate = plan::find(modelled.candidates, choice.configuration);
      choice.sd_ms = modelled.sd_ms[static_cast<std::size_t>(candidate - modelled.candidates.data())];
      out.spread = std::max(out.spread, spread_of(choice));
    }
  }
}

double StagesToPlace::alone_ms(const View& view, ApplicationId application) {
  double most = 0;
  for (const StageToPlace& stage : of(view, application).stages) {
    double least = stage.runs ? kUnplaceable : 0;
    for (const PlaceChoice& c : stage.choices) least = std::min(least, c.ms);
    if (stage.before.empty()) most = std::max(most, stage.wait.to_ms() + least + stage.rest_ms);
  }
  return most;
}

double StagesToPlace::doubt(const View& view, ApplicationId application) {
  double most = 0;
  for (const StageToPlace& stage : of(view, application).stages) {
    if (!stage.runs) continue;
    const Pace& pace = view.queue(stage.queue).pace;
    most = std::max({most, pace.slowest() / pace.slower() - 1, PlaceChoice::kDeviations * stage.spread});
  }
  return std::min(most, 1.0);
}

double StagesToPlace::slower(const View& view, ApplicationId application) {
  double most = 1;
  for (const StageToPlace& stage : of(view, application).stages) {
    if (!stage.runs) continue;
    const Queue& queue = view.queue(stage.queue);
    for (const PlaceChoice& c : stage.choices) most = std::max(most, promised_ms(queue, c) / c.slowest_ms());
  }
  return most;
}

// What is derived of an application counts only what some machine holds.
void StagesToPlace::look_at_shapes(const View& view) {
  std::vector<const Invoker*> distinct;
  const auto same = [](const Invoker& a, const Invoker& b) {
    const std::uint32_t of_a = a.gpus.empty() ? 0 : a.gpus.front().slices;
    const std::uint32_t of_b = b.gpus.empty() ? 0 : b.gpus.front().slices;
    return a.vcpu == b.vcpu && a.gpus.size() == b.gpus.size() && of_a == of_b && a.layout == b.layout &&
           a.device == b.device;
  };
  shape_of_.assign(view.invokers.size(), 0);
  std::uint32_t last = 0;
  for (const Invoker& invoker : view.invokers) {
    if (!invoker.usable) continue;
    if (distinct.empty() || !same(*distinct[last], invoker)) {
      const auto known = std::ranges::find_if(distinct, [&](const Invoker* other) { return same(*other, invoker); });
      last = static_cast<std::uint32_t>(known - distinct.begin());
      if (known == distinct.end()) distinct.push_back(&invoker);
    }
    shape_of_[invoker.id.index()] = last;
  }
  const auto known = [](const NodeGroup& shape, const Invoker* invoker) { return shape == invoker->shape(); };
  if (std::ranges::equal(shapes_, distinct, known)) return;
  shapes_.clear();
  for (const Invoker* invoker : distinct) shapes_.push_back(invoker->shape());
  orders_.clear();
}

bool StagesToPlace::is_possible(const View& view, const Queue& queue, const Configuration& c) const {
  const auto holds = [&](const NodeGroup& shape) { return machine_holds(shape, c); };
  return view.ever_allowed(queue, c) && std::ranges::any_of(shapes_, holds);
}

}  // namespace sluice::policy
