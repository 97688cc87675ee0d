#include "policy/placing.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/check.h"
#include "domain/graph.h"
#include "policy/runnable.h"
#include "policy/slice_positions.h"
#include "profile/transfer.h"

namespace sluice::policy {
namespace {

constexpr double kNinetyNine = 2.33;  // standard deviations: 99 of 100 take no longer
constexpr double kSpreadMost = 0.5;   // of times that were just learned it may be anything
constexpr double kUnplaceable = std::numeric_limits<double>::infinity();

const Queue* queue_of(const View& view, const ApplicationModel& model, std::size_t in_model) {
  for (const Queue& queue : view.queues) {
    if (queue.application == model.id && queue.model_stage == in_model && queue.handler == nullptr) return &queue;
  }
  return nullptr;
}

// Moving the inputs of a stage to a machine takes no longer than this: which of several predecessors counts is known
// when they have ended. Others who share its batch have theirs there.
Duration moving(const View& view, const Function& function, std::span<const InvokerId> from, InvokerId to,
                std::uint32_t others) {
  Duration longest;
  for (const InvokerId source : from) {
    if (!source.valid()) continue;
    profile::BatchInputs inputs;
    inputs.add(source == to, function.input_bytes.value_or(Bytes{}));
    for (std::uint32_t i = 0; i < others; ++i) inputs.add(true, function.input_bytes.value_or(Bytes{}));
    longest = std::max(longest, profile::transfer_time(view.transfer, inputs));
  }
  return longest;
}

// How long a batch of a queue is promised its place: as long as the slowest of those that were seen lately took, with
// what they take besides on the way to a worker and back. The usual time instead, with more kept back before the
// deadline, broke a third of all promises under load where times were off by 30 %.
// Of few executions the slowest says little of the slowest there will be: what the profile says of their spread counts.
double promised_ms(const Queue& queue, double ms, double sd_ms) {
  // A measured time is the expected one but for rounding: promises of exact times stay exact.
  constexpr double kSame = 1e-6;
  const double believed = queue.pace.slower() * (1 + kNinetyNine * std::min(kSpreadMost, sd_ms / ms));
  const double slowest = std::max(queue.pace.slowest(), believed);
  return ms * (std::abs(slowest - 1) < kSame ? 1 : slowest) + std::max(0.0, queue.pace.beside_ms());
}

}  // namespace

bool Placing::placeable(const Workflow& workflow) {
  return std::ranges::all_of(workflow.stages, [](const Stage& s) {
    return !s.foreach && (s.kind == Stage::Kind::run || s.kind == Stage::Kind::pass);
  });
}

const Placing::Order& Placing::order_of(const View& view, const ApplicationModel& model) {
  look_at_shapes(view);
  Order& order = orders_[model.id];
  const TenantRoom room = view.tenants.empty() ? TenantRoom{} : view.tenants[model.tenant];
  const std::pair quota(room.vcpu_max, room.slices_max);
  if (order.planner == model.planner && order.quota == quota && !order.stages.empty()) return order;
  const Workflow& workflow = model.application->workflow;
  const Graph graph = std::get<Graph>(Graph::make(workflow));
  order = {.planner = model.planner, .quota = quota, .at = std::vector<std::uint32_t>(workflow.size())};
  for (const Graph::Node s : graph.topological_order()) {
    order.at[s] = static_cast<std::uint32_t>(order.stages.size());
    StageToPlace& out = order.stages.emplace_back(StageToPlace{.stage = s, .wait = workflow.stages[s].wait});
    for (const Graph::Node n : graph.predecessors(s)) out.before.push_back(n);
    for (const Graph::Node n : graph.successors(s)) out.after.push_back(n);
    const std::size_t in_model = model.planner->model().find(workflow.stages[s].name);
    if (workflow.stages[s].kind != Stage::Kind::run || in_model >= model.planner->model().stages.size()) continue;
    const Queue* queue = queue_of(view, model, in_model);
    CHECK(queue != nullptr);
    out.runs = true;
    out.queue = queue->id;
    out.in_model = in_model;
    std::vector<const plan::Candidate*> possible;
    for (const plan::Candidate& c : model.planner->model().stages[in_model].candidates) {
      if (is_possible(view, *queue, c.configuration)) possible.push_back(&c);
    }
    out.choices = worth_a_look(possible);
    if (!out.choices.empty()) out.batches = worth_sharing(possible, out.choices.front().configuration.batch);
    const auto most = [&](const Configuration& c) {
      Dollars dearest = 0;
      std::uint32_t fewer = 0;  // as many would run a smaller batch
      for (const plan::Candidate& other : model.planner->model().stages[in_model].candidates) {  // by batch
        Configuration same = other.configuration;
        same.batch = c.batch;
        if (same != c || other.configuration.batch > c.batch) continue;
        dearest = std::max(dearest, model.application->prices.per_ms(c) * other.ms / (fewer + 1));
        fewer = other.configuration.batch;
      }
      return dearest;
    };
    const plan::ModelStage& modelled = model.planner->model().stages[in_model];
    for (std::vector<Choice>* choices : {&out.choices, &out.batches}) {
      for (Choice& choice : *choices) {
        choice.most = most(choice.configuration);
        const plan::Candidate* candidate = plan::find(modelled.candidates, choice.configuration);
        choice.sd_ms = modelled.sd_ms[static_cast<std::size_t>(candidate - modelled.candidates.data())];
        out.spread = std::max(out.spread, std::min(kSpreadMost, choice.sd_ms / choice.ms));
      }
    }
  }
  Dollars cost = 0;
  for (std::size_t i = order.stages.size(); i-- > 0;) {
    StageToPlace& stage = order.stages[i];
    stage.rest_cost = cost;
    for (const std::uint32_t next : stage.after) {
      const StageToPlace& after = order.stages[order.at[next]];
      double least = after.runs ? kUnplaceable : 0;
      for (const Choice& c : after.choices) least = std::min(least, c.ms);
      stage.rest_ms = std::max(stage.rest_ms, after.wait.to_ms() + least + after.rest_ms);
    }
    double least = stage.runs ? kUnplaceable : 0;
    for (const Choice& c : stage.choices) least = std::min(least, c.most);
    cost += least;
  }
  return order;
}

double Placing::alone_ms(const View& view, ApplicationId application) {
  double most = 0;
  for (const StageToPlace& stage : order_of(view, view.application(application)).stages) {
    double least = stage.runs ? kUnplaceable : 0;
    for (const Choice& c : stage.choices) least = std::min(least, c.ms);
    if (stage.before.empty()) most = std::max(most, stage.wait.to_ms() + least + stage.rest_ms);
  }
  return most;
}

double Placing::doubt(const View& view, ApplicationId application) {
  double most = 0;
  for (const StageToPlace& stage : order_of(view, view.application(application)).stages) {
    if (!stage.runs) continue;
    const Pace& pace = view.queue(stage.queue).pace;
    most = std::max({most, pace.slowest() / pace.slower() - 1, kNinetyNine * stage.spread});
  }
  return std::min(most, 1.0);
}

double Placing::slower(const View& view, ApplicationId application) {
  double most = 1;
  for (const StageToPlace& stage : order_of(view, view.application(application)).stages) {
    if (!stage.runs) continue;
    const Queue& queue = view.queue(stage.queue);
    for (const Choice& c : stage.choices)
      most = std::max(most, promised_ms(queue, c.ms, c.sd_ms) / (c.ms + kNinetyNine * c.sd_ms));
  }
  return most;
}

// What is derived of an application counts only what some machine holds.
void Placing::look_at_shapes(const View& view) {
  const Invoker* last = nullptr;
  std::vector<const Invoker*> distinct;
  const auto same = [](const Invoker& a, const Invoker& b) {
    const std::uint32_t of_a = a.gpus.empty() ? 0 : a.gpus.front().slices;
    const std::uint32_t of_b = b.gpus.empty() ? 0 : b.gpus.front().slices;
    return a.vcpu == b.vcpu && a.gpus.size() == b.gpus.size() && of_a == of_b && a.layout == b.layout &&
           a.device == b.device;
  };
  for (const Invoker& invoker : view.invokers) {
    if (!invoker.usable || (last != nullptr && same(*last, invoker))) continue;
    last = &invoker;
    if (std::ranges::none_of(distinct, [&](const Invoker* other) { return same(*other, invoker); }))
      distinct.push_back(&invoker);
  }
  const auto known = [](const NodeGroup& shape, const Invoker* invoker) { return shape == invoker->shape(); };
  if (std::ranges::equal(shapes_, distinct, known)) return;
  shapes_.clear();
  for (const Invoker* invoker : distinct) shapes_.push_back(invoker->shape());
  orders_.clear();
}

bool Placing::is_possible(const View& view, const Queue& queue, const Configuration& c) const {
  const auto holds = [&](const NodeGroup& shape) { return machine_holds(shape, c); };
  return view.ever_allowed(queue, c) && std::ranges::any_of(shapes_, holds);
}

// For every kind of device those that no other is faster and cheaper than, and the least, which fits where others do
// not. By time; of too many those spread from the first to the last.
std::vector<Placing::Choice> Placing::worth_a_look(const std::vector<const plan::Candidate*>& candidates) {
  const auto same_kind = [](const plan::Candidate& a, const plan::Candidate& b) {
    return a.configuration.batch == b.configuration.batch && a.configuration.device == b.configuration.device;
  };
  std::vector<const plan::Candidate*> kept;
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
  std::vector<Choice> out;
  const std::size_t count = std::min(kept.size(), kChoices);
  for (std::size_t i = 0; i < count; ++i) {
    const plan::Candidate& c = *kept[count < 2 ? 0 : i * (kept.size() - 1) / (count - 1)];
    out.push_back({c.configuration, c.ms});
  }
  return out;
}

// Of every larger batch the one that takes the least, and the fastest.
std::vector<Placing::Choice> Placing::worth_sharing(const std::vector<const plan::Candidate*>& candidates,
                                                    std::uint32_t fewest) {
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
  std::vector<Choice> out;
  for (const auto& [batch, best] : by_batch) {
    out.push_back({best.first->configuration, best.first->ms});
    if (best.second != best.first) out.push_back({best.second->configuration, best.second->ms});
  }
  return out;
}

// Those with the fewest bookings: where the first gaps are, mostly. And those where batches of the application have
// places left.
void Placing::choose_machines(const View& view, const ApplicationModel& model, std::size_t most) {
  machines_.clear();
  for (const Invoker& invoker : view.invokers) {
    if (invoker.usable) machines_.push_back(invoker.id.value());
  }
  const auto fewer = [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(view.invokers[a].bookings.size(), a) < std::tuple(view.invokers[b].bookings.size(), b);
  };
  if (machines_.size() > most) {
    std::nth_element(machines_.begin(), machines_.begin() + static_cast<std::ptrdiff_t>(most), machines_.end(), fewer);
    machines_.resize(most);
  }
  std::sort(machines_.begin(), machines_.end(), fewer);
  std::size_t looked = 0;
  for (const Invoker& invoker : view.invokers) {
    if (invoker.open == 0 || !invoker.usable) continue;
    const auto takes_more = [&](const Booking& b) { return b.open() && view.queue(b.queue).application == model.id; };
    if (std::ranges::none_of(invoker.bookings, takes_more)) continue;
    if (std::ranges::find(machines_, invoker.id.value()) == machines_.end()) machines_.push_back(invoker.id.value());
    if (++looked == kMachinesWithPlaces) break;
  }
}

// The configurations that would be best on free machines, into guide_: nothing could be better if they are in time.
// False: that is not known.
bool Placing::guide(const Request& request, const Order& order, double available_ms, const Preference& preference) {
  const auto shares = [](const StageToPlace& stage) { return !stage.batches.empty(); };
  if (preference.counts_waste || (preference.opens && std::ranges::any_of(order.stages, shares))) return false;
  const bool cheapest = preference.scarcity == nullptr && preference.cost_weight == 1;
  if (preference.scarcity == nullptr && !cheapest && preference.cost_weight != 0) return false;
  guide_.assign(order.stages.size(), 0);
  if (cheapest) {
    const std::size_t entry = order.planner->model().entry();
    const auto options = order.planner->query(entry, 1, available_ms, workspace_);
    if (options.empty()) return false;
    const plan::Plan plan = order.planner->plan_of(entry, options.front(), workspace_);
    for (std::size_t i = 0; i < order.stages.size(); ++i) {
      const StageToPlace& stage = order.stages[i];
      if (!stage.runs) continue;
      const auto chosen = std::ranges::find(plan.stages, stage.in_model, &plan::ChosenStage::stage);
      if (chosen == plan.stages.end()) return false;
      const plan::Candidate& wanted = order.planner->model().stages[stage.in_model].candidates[chosen->candidate];
      // Itself, or the slowest of those that are looked at which is as fast.
      std::size_t best = stage.choices.size();
      for (std::size_t k = 0; k < stage.choices.size(); ++k) {
        const Choice& choice = stage.choices[k];
        if (choice.ms <= wanted.ms && choice.configuration.device == wanted.configuration.device) best = k;
        if (choice.configuration == wanted.configuration) break;
      }
      if (best == stage.choices.size()) return false;
      guide_[i] = best;
    }
    return !request.cost_limit || PicoDollars::from_dollars(plan.cost) <= *request.cost_limit;
  }
  for (std::size_t i = 0; i < order.stages.size(); ++i) {
    const std::vector<Choice>& choices = order.stages[i].choices;
    const auto key = [&](const Choice& c) {
      return preference.scarcity == nullptr ? c.ms : preference.scarcity->of(c.configuration, c.ms);
    };
    const auto best =
        std::ranges::min_element(choices, [&](const Choice& a, const Choice& b) { return key(a) < key(b); });
    guide_[i] = static_cast<std::size_t>(best - choices.begin());
  }
  return true;
}

// With what the way takes there itself.
const Skyline& Placing::skyline_of(const View& view, std::uint32_t invoker, std::uint32_t way) {
  own_.clear();
  for (std::uint32_t w = way; w != Way::kNone; w = ways_[w].before) {
    const Reserved& r = ways_[w].last;
    if (!r.invoker.valid() || r.invoker.value() != invoker || r.joins.valid()) continue;
    own_.push_back({.reserved = true,
                    .from = r.from,
                    .to = r.to,
                    .configuration = r.configuration,
                    .positions = r.positions,
                    .function = r.function});
  }
  if (!own_.empty()) {
    with_own_.make(view.invokers[invoker], view.now, own_);
    return with_own_;
  }
  if (invoker >= skylines_.size()) skylines_.resize(view.invokers.size());
  Cached& cached = skylines_[invoker];
  if (cached.request != request_) {
    cached.request = request_;
    cached.skyline.make(view.invokers[invoker], view.now);
  }
  return cached.skyline;
}

const Placing::Way* Placing::way_of(std::uint32_t way, const Order& order, std::uint32_t stage) const {
  // The way is as long as the stages that were placed: the last one is that of the last stage.
  std::size_t length = 0;
  for (std::uint32_t w = way; w != Way::kNone; w = ways_[w].before) ++length;
  for (std::uint32_t w = way; w != Way::kNone; w = ways_[w].before, --length) {
    if (order.at[stage] == length - 1) return &ways_[w];
  }
  return nullptr;
}

void Placing::rooms_at(const View& view, const Queue& queue, const Invoker& invoker, const Configuration& c) {
  rooms_.clear();
  const Level level = c.slices > 0 ? Level::device : Level::host;
  if (level == Level::host && level_at(view, view.functions[queue.shared.index()], invoker) != level) return;
  for (const std::uint32_t slot : view.instances_of(queue.shared)) {
    const Instance& instance = view.instances[slot];
    if (instance.invoker != invoker.id || instance.wanted != level || instance.level > level) continue;
    const std::uint64_t gpus = level == Level::device ? std::uint64_t{1} << instance.gpu : ~std::uint64_t{0};
    rooms_.push_back({gpus, instance.batches, instance.loading() ? std::max(instance.ready_at, view.now) : view.now});
  }
}

// On machines where functions are loaded no more batches of one may run than its instances there run at once.
std::optional<Gap> Placing::gap_at(const Skyline& skyline, const Queue& queue, const Invoker& invoker,
                                   const Configuration& c, const Stretch& wanted) const {
  const auto& [earliest, length] = wanted;
  if (invoker.warm) return skyline.first(c, earliest, length);
  std::optional<Gap> best;
  for (const Room& room : rooms_) {
    std::uint32_t batches = 0;  // of all that are ready by then, in the same place
    for (const Room& other : rooms_)
      batches += other.gpus == room.gpus && other.ready <= room.ready ? other.batches : 0;
    Time start = std::max(earliest, room.ready);
    for (;;) {
      const auto gap = skyline.first(c, start, length, room.gpus);
      if (!gap || (best && best->from <= gap->from)) break;
      const Span span{gap->from, gap->from + length};
      std::uint32_t others = 0;
      Time first_end = Time::max();
      const auto count = [&](const Booking& b) {
        const bool there = b.function == queue.shared && span.meets(b) &&
                           (c.slices == 0) == (b.positions.slices == 0) &&
                           (c.slices == 0 || b.positions.gpu == gap->positions.gpu);
        if (!there) return;
        ++others;
        first_end = std::min(first_end, b.to);
      };
      std::ranges::for_each(invoker.bookings, count);
      std::ranges::for_each(own_, count);
      if (others < batches) {
        best = gap;
        break;
      }
      start = first_end;
    }
  }
  return best;
}

void Placing::offer(const Request& request, const StageToPlace& stage, const Way& next) {
  if (next.end + Duration::ms(stage.rest_ms) > request.deadline) return;
  if (request.cost_limit && PicoDollars::from_dollars(next.most + stage.rest_cost) > *request.cost_limit) return;
  next_layer_.push_back(static_cast<std::uint32_t>(ways_.size()));
  ways_.push_back(next);
}

// Places in batches that were promised to others: whose inputs are there too, and who is ready in time.
void Placing::join_others(const View& view, const ApplicationModel& model, const Request& request,
                          const StageToPlace& stage, const Invoker& invoker, std::uint32_t way, Time ready) {
  const auto elsewhere = [&](InvokerId source) { return source.valid() && source != invoker.id; };
  if (invoker.open == 0 || std::ranges::any_of(from_, elsewhere)) return;
  const Way so_far = way == Way::kNone ? Way{.end = view.now, .finish = view.now} : ways_[way];
  const Queue& queue = view.queue(stage.queue);
  for (const Booking& b : invoker.bookings) {
    if (!b.open() || b.queue != stage.queue || b.from < ready) continue;
    bool twice = false;  // another stage of this request is in it
    for (std::uint32_t w = way; w != Way::kNone; w = ways_[w].before)
      twice = twice || (ways_[w].last.joins.valid() && ways_[w].last.joins.value() == b.owner);
    const auto same = [&](const Choice& c) { return c.configuration == b.configuration; };
    const std::vector<Choice>& list =
        b.configuration.batch > stage.choices.front().configuration.batch ? stage.batches : stage.choices;
    const auto choice = std::ranges::find_if(list, same);
    if (twice || choice == list.end()) continue;  // or it is of other plans
    const double per_ms = model.application->prices.per_ms(b.configuration);
    const double members = b.members + 1;
    const Duration length = b.to - b.from;
    if (b.from > request.deadline - length - Duration::ms(stage.rest_ms)) continue;
    offer(request, stage,
          {.before = way,
           .last = {.stage = stage.stage,
                    .invoker = invoker.id,
                    .configuration = b.configuration,
                    .positions = b.positions,
                    .from = b.from,
                    .to = b.to,
                    .function = queue.shared,
                    .queue = queue.id,
                    .joins = ReservationId(b.owner)},
           .inputs_at = invoker.id,
           .end = b.to,
           .finish = std::max(so_far.finish, b.to),
           .cost = so_far.cost + per_ms * length.to_ms() / members,
           .most = so_far.most + per_ms * (length.to_ms() - choice->ms) + choice->most,
           .taken = so_far.taken,
           .company = members});
  }
}

// All ways to place one more stage after those of `way`: of every choice the earliest end, there and where the inputs
// are; where scarcity decides also later starts, which may spoil less: at the end of the same stretch, or in others.
void Placing::extend(const View& view, const ApplicationModel& model, const Request& request, const Order& order,
                     std::size_t index, std::uint32_t way, const Preference& preference) {
  const StageToPlace& stage = order.stages[index];
  const Way so_far = way == Way::kNone ? Way{.end = view.now, .finish = view.now} : ways_[way];
  Time ready = view.now;
  from_.clear();
  for (const std::uint32_t before : stage.before) {
    const Way* source = way_of(way, order, before);
    ready = std::max(ready, source->end);
    from_.push_back(source->inputs_at);
  }
  ready = ready + stage.wait;
  if (!stage.runs) {
    return offer(request, stage,
                 {.before = way,
                  .last = {.stage = stage.stage},
                  .inputs_at = from_.empty() ? InvokerId::none() : from_.back(),
                  .end = ready,
                  .finish = std::max(so_far.finish, ready),
                  .cost = so_far.cost,
                  .most = so_far.most,
                  .taken = so_far.taken,
                  .company = so_far.company});
  }
  const Queue& queue = view.queue(stage.queue);
  const Function& function = model.application->function(queue.function);
  const std::size_t alone = stage.choices.size(), choices = alone + (preference.opens ? stage.batches.size() : 0);
  const double calls = preference.opens ? preference.calls_per_ms : 0;
  soonest_.assign(choices, {.end = Time::max()});
  soon_.assign(choices, false);
  if (guided_) {
    soon_.assign(choices, true);
    soon_[guide_[index]] = false;
  }
  const auto look_at = [&](const Invoker& invoker) {
    if (!guided_) join_others(view, model, request, stage, invoker, way, ready);
    if (std::ranges::all_of(soon_, [](bool soon) { return soon; })) return;
    const Skyline& skyline = skyline_of(view, invoker.id.value(), way);
    const bool near = std::ranges::find(from_, invoker.id) != from_.end();
    for (std::size_t k = 0; k < choices; ++k) {
      const Choice& choice = k < alone ? stage.choices[k] : stage.batches[k - alone];
      const Configuration& c = choice.configuration;
      const double ms = choice.ms;
      if (soon_[k] || !invoker.holds(c) || !view.ever_allowed(queue, c)) continue;
      if (!invoker.warm) rooms_at(view, queue, invoker, c);
      const Duration move = moving(view, function, from_, invoker.id, c.batch - 1);
      const Duration length = move + Duration::ms(promised_ms(queue, ms, choice.sd_ms));
      const Time latest = request.deadline - length - Duration::ms(stage.rest_ms);
      const auto at = [&](const Gap& gap) {
        const Span span{gap.from, gap.from + length};
        const Scarcity* scarcity = preference.scarcity;
        // Those who come while it waits for its turn, and those who were with it in the batch before.
        const double company =
            preference.opens
                ? std::min<double>(c.batch, std::max(so_far.company, std::min(preference.company,
                                                                              1 + calls * (gap.from - ready).to_ms())))
                : 1;
        double taken = scarcity == nullptr ? 0 : scarcity->of(c, ms) / company;
        if (scarcity != nullptr && preference.counts_waste)
          taken += scarcity->wasted_by(skyline, c, gap.positions, span);
        const double per_ms = model.application->prices.per_ms(c);
        return Way{.before = way,
                   .last = {.stage = stage.stage,
                            .invoker = invoker.id,
                            .configuration = c,
                            .positions = gap.positions,
                            .from = span.from,
                            .to = span.to,
                            .function = queue.shared,
                            .queue = queue.id},
                   .inputs_at = invoker.id,
                   .end = span.to,
                   .finish = std::max(so_far.finish, span.to),
                   .cost = so_far.cost + per_ms * (move.to_ms() + ms) / company,
                   .most = so_far.most + per_ms * move.to_ms() + choice.most,
                   .taken = so_far.taken + taken,
                   .company = company};
      };
      auto gap = gap_at(skyline, queue, invoker, c, {ready, length});
      if (!gap || gap->from > latest) continue;
      if (const Way next = at(*gap); near || preference.counts_waste)
        offer(request, stage, next);
      else if (next.end < soonest_[k].end)
        soonest_[k] = next;
      // Later others may have come to share it.
      if (calls > 0 && c.batch > so_far.company) {
        const Time full = ready + Duration::ms((c.batch - so_far.company) / calls);
        if (const Time start = std::min(full, latest); start > gap->from) {
          const auto late = gap_at(skyline, queue, invoker, c, {start, length});
          if (late && late->from <= latest) offer(request, stage, at(*late));
        }
      }
      soon_[k] = gap->from == ready && !preference.counts_waste;  // elsewhere it would start and end no sooner
      for (std::size_t n = 1; preference.counts_waste && n < kStarts; ++n) {
        const Time closes = skyline.closes(gap->from, c, gap->positions.gpu);
        if (closes == Time::max()) break;
        if (const Time start = closes - length; start > gap->from && start <= latest) {
          const auto late = gap_at(skyline, queue, invoker, c, {start, length});
          if (late && late->from == start) offer(request, stage, at(*late));
        }
        gap = gap_at(skyline, queue, invoker, c, {closes, length});
        if (!gap || gap->from > latest) break;
        offer(request, stage, at(*gap));
      }
    }
  };
  // First where inputs are: elsewhere they have to be moved.
  nearest_.clear();
  for (const InvokerId source : from_) {
    const bool listed = source.valid() && std::ranges::find(nearest_, source.value()) != nearest_.end();
    if (source.valid() && !listed && view.invokers[source.index()].usable) nearest_.push_back(source.value());
  }
  for (const std::uint32_t i : nearest_) look_at(view.invokers[i]);
  for (const std::uint32_t i : machines_) {
    if (std::ranges::find(nearest_, i) == nearest_.end()) look_at(view.invokers[i]);
  }
  for (const Way& next : soonest_) {
    if (next.end < Time::max()) offer(request, stage, next);
  }
}

// Leaves out what another way is no worse than, at every stage that something still follows and in price.
void Placing::prune(const Order& order, std::size_t index, bool by_taken) {
  std::vector<std::uint32_t> open;
  for (std::size_t i = 0; i <= index; ++i) {
    const StageToPlace& stage = order.stages[i];
    const bool followed = std::ranges::any_of(stage.after, [&](std::uint32_t next) { return order.at[next] > index; });
    if (followed || stage.after.empty()) open.push_back(stage.stage);
  }
  struct Ends {
    std::uint32_t way;
    double price;
    Time finish;
    std::vector<std::pair<Time, InvokerId>> open;
  };
  std::vector<Ends> all;
  for (const std::uint32_t w : next_layer_) {
    Ends ends{w, by_taken ? ways_[w].taken : ways_[w].cost, ways_[w].finish, {}};
    for (const std::uint32_t s : open) {
      const Way* way = way_of(w, order, s);
      ends.open.emplace_back(way->end, way->inputs_at);
    }
    all.push_back(std::move(ends));
  }
  std::sort(all.begin(), all.end(), [](const Ends& a, const Ends& b) {
    return std::tuple(a.price, a.finish, a.way) < std::tuple(b.price, b.finish, b.way);
  });
  std::vector<const Ends*> kept;
  for (const Ends& ends : all) {
    const auto better = [&](const Ends* other) {
      for (std::size_t i = 0; i < ends.open.size(); ++i) {
        const auto& [end, inputs_at] = other->open[i];
        if (end > ends.open[i].first || inputs_at != ends.open[i].second) return false;
      }
      return true;
    };
    if (std::ranges::none_of(kept, better)) kept.push_back(&ends);
  }
  if (kept.size() > kKept) {  // by price now, ascending: half of them, and those that end first
    std::stable_sort(kept.begin() + kKept / 2, kept.end(),
                     [](const Ends* a, const Ends* b) { return a->finish < b->finish; });
    kept.resize(kKept);
  }
  next_layer_.clear();
  for (const Ends* ends : kept) next_layer_.push_back(ends->way);
}

Placed Placing::result_of(const Order& order, const Request& request, std::uint32_t way) const {
  Placed out{.finish = ways_[way].finish, .cost = ways_[way].most, .taken = ways_[way].taken};
  std::vector<Time> latest(order.stages.size(), request.deadline);  // end of each, by stage
  for (std::uint32_t w = way, i = static_cast<std::uint32_t>(order.stages.size()); w != Way::kNone;
       w = ways_[w].before) {
    const StageToPlace& stage = order.stages[--i];
    Reserved reserved = ways_[w].last;
    const Duration length = stage.runs ? reserved.to - reserved.from : Duration{};
    const Time start = latest[stage.stage] - length;
    for (const std::uint32_t before : stage.before) latest[before] = std::min(latest[before], start - stage.wait);
    if (!stage.runs) continue;
    reserved.latest = std::max(start, reserved.from);
    out.stages.push_back(reserved);
  }
  std::reverse(out.stages.begin(), out.stages.end());
  return out;
}

std::optional<Placed> Placing::place(const View& view, const Request& request, const Preference& preference) {
  const ApplicationModel& model = view.application(request.application);
  const Order& order = order_of(view, model);
  const double available_ms = (request.deadline - view.now).to_ms();
  if (alone_ms(view, request.application) > available_ms) return std::nullopt;
  ++request_;
  choose_machines(view, model, preference.counts_waste ? kMachinesForWaste : kMachines);
  const auto search = [&] {
    ways_.clear();
    layer_.assign(1, Way::kNone);
    for (std::size_t i = 0; i < order.stages.size(); ++i) {
      next_layer_.clear();
      for (const std::uint32_t way : layer_) extend(view, model, request, order, i, way, preference);
      if (guided_ && !next_layer_.empty())
        next_layer_ = {*std::ranges::min_element(next_layer_, {}, [&](std::uint32_t w) { return ways_[w].end; })};
      else
        prune(order, i, preference.scarcity != nullptr);
      layer_.swap(next_layer_);
      if (layer_.empty()) return false;
    }
    return true;
  };
  guided_ = guide(request, order, available_ms, preference);
  if (guided_ && search()) {
    // What ends first is known to only if it waits for nothing: another configuration may be free sooner.
    const bool soonest = preference.scarcity == nullptr && preference.cost_weight == 0;
    const Time ends = ways_[layer_.front()].finish;
    if (!soonest || ends <= view.now + Duration::ms(alone_ms(view, request.application)))
      return result_of(order, request, layer_.front());
  }
  guided_ = false;
  if (!search()) return std::nullopt;
  const double span = std::max(1e-6, (request.deadline - view.now).to_ms());
  Dollars cheapest = kUnplaceable;
  for (const std::uint32_t w : layer_) cheapest = std::min(cheapest, ways_[w].cost);
  const auto key = [&](std::uint32_t w) {
    const Way& way = ways_[w];
    const double ends = (way.finish - view.now).to_ms() / span;
    const double costs = cheapest > 0 ? way.cost / cheapest : 1;
    if (preference.scarcity != nullptr) return std::tuple(way.taken, ends, costs);
    const double weight = preference.cost_weight;
    return std::tuple((1 - weight) * ends + weight * costs, weight > 0.5 ? ends : costs, 0.0);
  };
  const std::uint32_t best = *std::ranges::min_element(
      layer_, [&](std::uint32_t a, std::uint32_t b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });
  return result_of(order, request, best);
}

}  // namespace sluice::policy
