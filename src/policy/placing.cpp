#include "policy/placing.h"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>

#include "policy/runnable.h"
#include "profile/transfer.h"

namespace sluice::policy {
namespace {

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

}  // namespace

// Those with the fewest bookings: where the first gaps are, mostly. And those where batches of the application have
// places left.
void Placing::choose_machines(const Call& call) {
  const View& view = call.view;
  const std::size_t all = call.preference.counts_waste ? kMachinesForWaste : kMachines;
  // Of every kind some: what needs a large one may find it nowhere else.
  const std::size_t most = std::max(all / std::max<std::size_t>(1, stages_.shapes()), kMachinesOfAKind);
  machines_.clear();
  const auto fewer = [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(view.invokers[a].bookings.size(), a) < std::tuple(view.invokers[b].bookings.size(), b);
  };
  for (std::uint32_t shape = 0; shape < stages_.shapes(); ++shape) {
    const auto first = static_cast<std::ptrdiff_t>(machines_.size());
    for (const Invoker& invoker : view.invokers) {
      if (invoker.usable && stages_.shape_of(invoker.id) == shape) machines_.push_back(invoker.id.value());
    }
    const auto begin = machines_.begin() + first;
    if (machines_.end() - begin <= static_cast<std::ptrdiff_t>(most)) continue;
    std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(most), machines_.end(), fewer);
    machines_.resize(static_cast<std::size_t>(first) + most);
  }
  std::sort(machines_.begin(), machines_.end(), fewer);
  std::size_t looked = 0;
  const auto takes_more = [&](const Booking& b) {
    return b.open() && view.queue(b.queue).application == call.model.id;
  };
  for (const Invoker& invoker : view.invokers) {
    if (invoker.open == 0 || !invoker.usable || std::ranges::none_of(invoker.bookings, takes_more)) continue;
    if (std::ranges::find(machines_, invoker.id.value()) == machines_.end()) machines_.push_back(invoker.id.value());
    if (++looked == kMachinesWithPlaces) break;
  }
}

// The configurations that would be best on free machines, into guide_: nothing could be better if they are in time.
// False: that is not known.
bool Placing::guide(const Call& call) {
  const auto& [view, model, request, order, preference] = call;
  const auto shares = [](const StageToPlace& stage) { return !stage.batches.empty(); };
  if (preference.counts_waste || (preference.opens && std::ranges::any_of(order.stages, shares))) return false;
  const bool cheapest = preference.scarcity == nullptr && preference.cost_weight == 1;
  if (preference.scarcity == nullptr && !cheapest && preference.cost_weight != 0) return false;
  guide_.assign(order.stages.size(), 0);
  if (cheapest) return guide_by_cost(call);
  for (std::size_t i = 0; i < order.stages.size(); ++i) {
    const std::vector<PlaceChoice>& choices = order.stages[i].choices;
    const auto key = [&](const PlaceChoice& c) {
      return call.preference.scarcity == nullptr ? c.ms : call.preference.scarcity->of(c.configuration, c.ms);
    };
    guide_[i] = static_cast<std::size_t>(std::ranges::min_element(choices, {}, key) - choices.begin());
  }
  return true;
}

// As the plan has it that is cheapest in time.
bool Placing::guide_by_cost(const Call& call) {
  const plan::FrontierPlanner& planner = *frontiers_.of(call.view, call.request.application);
  const std::size_t entry = planner.model().entry();
  const double available_ms = (call.request.deadline - call.view.now).to_ms();
  const auto options = planner.query(entry, 1, available_ms, workspace_);
  if (options.empty()) return false;
  const plan::Plan plan = planner.plan_of(entry, options.front(), workspace_);
  for (std::size_t i = 0; i < call.order.stages.size(); ++i) {
    const StageToPlace& stage = call.order.stages[i];
    if (!stage.runs) continue;
    const auto chosen = std::ranges::find(plan.stages, stage.in_model, &plan::ChosenStage::stage);
    if (chosen == plan.stages.end()) return false;
    const plan::Candidate& wanted = planner.model().stages[stage.in_model].candidates[chosen->candidate];
    // Itself, or the slowest of those that are looked at which is as fast.
    std::size_t best = stage.choices.size();
    for (std::size_t k = 0; k < stage.choices.size(); ++k) {
      const PlaceChoice& choice = stage.choices[k];
      if (choice.ms <= wanted.ms && choice.configuration.device == wanted.configuration.device) best = k;
      if (choice.configuration == wanted.configuration) break;
    }
    if (best == stage.choices.size()) return false;
    guide_[i] = best;
  }
  return !call.request.cost_limit || PicoDollars::from_dollars(plan.cost) <= *call.request.cost_limit;
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

const Placing::Way* Placing::way_of(std::uint32_t way, const PlaceOrder& order, std::uint32_t stage) const {
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
std::optional<Gap> Placing::gap_at(const View& view, const Step& step, const Trial& trial, Time earliest) const {
  const auto& [invoker, skyline, choice, move, length, latest] = trial;
  const Configuration& c = choice.configuration;
  if (invoker.warm) return skyline.first(c, earliest, length);
  const SharedFunctionId function = view.queue(step.stage.queue).shared;
  std::optional<Gap> best;  // of equal starts the lowest GPU: instances are in no order
  const auto key = [](const Gap& gap) { return std::pair(gap.from, gap.positions.gpu); };
  for (const Room& room : rooms_) {
    std::uint32_t batches = 0;  // of all that are ready by then, in the same place
    for (const Room& other : rooms_)
      batches += other.gpus == room.gpus && other.ready <= room.ready ? other.batches : 0;
    Time start = std::max(earliest, room.ready);
    for (;;) {
      const auto gap = trial.skyline.first(trial.choice.configuration, start, trial.length, room.gpus);
      if (!gap || (best && key(*best) <= key(*gap))) break;
      const Span span{gap->from, gap->from + trial.length};
      std::uint32_t others = 0;
      Time first_end = Time::max();
      const auto count = [&](const Booking& b) {
        const bool on_gpu = b.positions.slices != 0, wanted_on_gpu = trial.choice.configuration.slices != 0;
        const bool there = b.function == function && span.meets(b) && on_gpu == wanted_on_gpu &&
                           (!on_gpu || b.positions.gpu == gap->positions.gpu);
        if (!there) return;
        ++others;
        first_end = std::min(first_end, b.to);
      };
      std::ranges::for_each(trial.invoker.bookings, count);
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
void Placing::join_others(const Call& call, const Step& step, const Invoker& invoker) {
  const StageToPlace& stage = step.stage;
  const auto elsewhere = [&](InvokerId source) { return source.valid() && source != invoker.id; };
  if (invoker.open == 0 || std::ranges::any_of(from_, elsewhere)) return;
  for (const Booking& b : invoker.bookings) {
    const Duration length = b.to - b.from;
    if (!b.open() || b.queue != stage.queue || b.from < step.ready) continue;
    if (b.from > call.request.deadline - length - Duration::ms(stage.rest_ms)) continue;
    bool twice = false;  // another stage of this request is in it
    for (std::uint32_t w = step.way; w != Way::kNone; w = ways_[w].before)
      twice = twice || (ways_[w].last.joins.valid() && ways_[w].last.joins.value() == b.owner);
    const bool shared = b.configuration.batch > stage.choices.front().configuration.batch;
    const std::vector<PlaceChoice>& list = shared ? stage.batches : stage.choices;
    const auto choice = std::ranges::find(list, b.configuration, &PlaceChoice::configuration);
    if (twice || choice == list.end()) continue;  // or it is of other plans
    const double per_ms = call.model.application->prices.per_ms(b.configuration);
    const double members = b.members + 1;
    offer(call.request, stage,
          {.before = step.way,
           .last = {.stage = stage.stage,
                    .invoker = invoker.id,
                    .configuration = b.configuration,
                    .positions = b.positions,
                    .from = b.from,
                    .to = b.to,
                    .function = b.function,
                    .queue = b.queue,
                    .joins = ReservationId(b.owner)},
           .inputs_at = invoker.id,
           .end = b.to,
           .finish = std::max(step.so_far.finish, b.to),
           .cost = step.so_far.cost + per_ms * length.to_ms() / members,
           .most = step.so_far.most + per_ms * (length.to_ms() - choice->ms) + choice->most,
           .taken = step.so_far.taken,
           .company = members});
  }
}

Placing::Way Placing::way_at(const Call& call, const Step& step, const Trial& trial, const Gap& gap) {
  const auto& [invoker, skyline, choice, move, length, latest] = trial;
  const Configuration& c = choice.configuration;
  const Queue& queue = call.view.queue(step.stage.queue);
  const Span span{gap.from, gap.from + length};
  double company = 1;
  if (call.preference.opens) {
    // Those who come while it waits for its turn, and those who were with it in the batch before.
    const double come = 1 + call.preference.calls_per_ms * (gap.from - step.ready).to_ms();
    company = std::min<double>(c.batch, std::max(step.so_far.company, std::min(call.preference.company, come)));
  }
  double taken = 0;
  if (const Scarcity* scarcity = call.preference.scarcity; scarcity != nullptr) {
    taken = scarcity->of(c, choice.ms) / company;
    if (call.preference.counts_waste) taken += scarcity->wasted_by(skyline, c, gap.positions, span);
  }
  const double per_ms = call.model.application->prices.per_ms(c);
  return {.before = step.way,
          .last = {.stage = step.stage.stage,
                   .invoker = invoker.id,
                   .configuration = c,
                   .positions = gap.positions,
                   .from = span.from,
                   .to = span.to,
                   .function = queue.shared,
                   .queue = queue.id},
          .inputs_at = invoker.id,
          .end = span.to,
          .finish = std::max(step.so_far.finish, span.to),
          .cost = step.so_far.cost + per_ms * (move.to_ms() + choice.ms) / company,
          .most = step.so_far.most + per_ms * move.to_ms() + choice.most,
          .taken = step.so_far.taken + taken,
          .company = company};
}

// As late as others need who may come to share the batch.
void Placing::wait_for_others(const Call& call, const Step& step, const Trial& trial, Time from) {
  const double missing = trial.choice.configuration.batch - step.so_far.company;
  if (!call.preference.opens || call.preference.calls_per_ms <= 0 || missing <= 0) return;
  const double most_ms = (trial.latest - step.ready).to_ms();
  const Time start = step.ready + Duration::ms(std::min(missing / call.preference.calls_per_ms, most_ms));
  if (start <= from) return;
  const auto gap = gap_at(call.view, step, trial, start);
  if (gap && gap->from <= trial.latest) offer(call.request, step.stage, way_at(call, step, trial, *gap));
}

// Later starts may spoil less: at the end of the same stretch, or in others.
void Placing::start_later(const Call& call, const Step& step, const Trial& trial, Gap gap) {
  const auto offer_at = [&](const Gap& at) { offer(call.request, step.stage, way_at(call, step, trial, at)); };
  for (std::size_t n = 1; n < kStarts; ++n) {
    const Time closes = trial.skyline.closes(gap.from, trial.choice.configuration, gap.positions.gpu);
    if (closes == Time::max()) return;
    if (const Time start = closes - trial.length; start > gap.from && start <= trial.latest) {
      const auto late = gap_at(call.view, step, trial, start);
      if (late && late->from == start) offer_at(*late);
    }
    const auto next = gap_at(call.view, step, trial, closes);
    if (!next || next->from > trial.latest) return;
    gap = *next;
    offer_at(gap);
  }
}

// One choice on one machine; true if it starts as soon as its inputs are there: elsewhere it would end no sooner.
bool Placing::look_at(const Call& call, const Step& step, const Trial& trial, Way& soonest) {
  const auto gap = gap_at(call.view, step, trial, step.ready);
  if (!gap || gap->from > trial.latest) return false;
  const Way next = way_at(call, step, trial, *gap);
  const bool near = std::ranges::find(from_, trial.invoker.id) != from_.end();
  if (near || call.preference.counts_waste)
    offer(call.request, step.stage, next);
  else if (next.end < soonest.end)
    soonest = next;
  wait_for_others(call, step, trial, gap->from);
  if (call.preference.counts_waste) start_later(call, step, trial, *gap);
  return gap->from == step.ready && !call.preference.counts_waste;
}

void Placing::look_at(const Call& call, const Step& step, const Invoker& invoker) {
  if (!guided_) join_others(call, step, invoker);
  if (std::ranges::all_of(soon_, [](bool soon) { return soon; })) return;
  const StageToPlace& stage = step.stage;
  const Queue& queue = call.view.queue(stage.queue);
  const Function& function = call.model.application->function(queue.function);
  const Skyline& skyline = skyline_of(call.view, invoker.id.value(), step.way);
  const std::size_t alone = stage.choices.size();
  for (std::size_t k = 0; k < soon_.size(); ++k) {
    const PlaceChoice& choice = k < alone ? stage.choices[k] : stage.batches[k - alone];
    const Configuration& c = choice.configuration;
    if (soon_[k] || !invoker.holds(c)) continue;
    if (!invoker.warm) rooms_at(call.view, queue, invoker, c);
    const Duration move = moving(call.view, function, from_, invoker.id, c.batch - 1);
    const Duration length = move + Duration::ms(promised_ms(queue, choice));
    const Time latest = call.request.deadline - length - Duration::ms(stage.rest_ms);
    soon_[k] = look_at(call, step, {invoker, skyline, choice, move, length, latest}, soonest_[k]);
  }
}

Placing::Step Placing::step_of(const Call& call, std::size_t index, std::uint32_t way) {
  const StageToPlace& stage = call.order.stages[index];
  const Time now = call.view.now;
  Step out{stage, way, way == Way::kNone ? Way{.end = now, .finish = now} : ways_[way], now};
  for (const std::uint32_t before : stage.before) out.ready = std::max(out.ready, way_of(way, call.order, before)->end);
  out.ready = out.ready + stage.wait;
  from_.clear();
  add_sources(call.order, stage, way);
  return out;
}

// Where the inputs of a stage are: whatever passes inputs on leaves them where they are.
void Placing::add_sources(const PlaceOrder& order, const StageToPlace& stage, std::uint32_t way) {
  for (const std::uint32_t before : stage.before) {
    const StageToPlace& source = order.stages[order.at[before]];
    if (source.runs)
      from_.push_back(way_of(way, order, before)->last.invoker);
    else
      add_sources(order, source, way);
  }
}

// All ways to place one more stage after those of `way`: of every choice the earliest end, there and where the inputs
// are; where scarcity decides also later starts.
void Placing::extend(const Call& call, std::size_t index, std::uint32_t way) {
  const Step step = step_of(call, index, way);
  const StageToPlace& stage = step.stage;
  if (!stage.runs) {
    Way next = step.so_far;
    next.before = way;
    next.last = {.stage = stage.stage};
    next.inputs_at = from_.empty() ? InvokerId::none() : from_.back();  // of several it is looked through again
    next.end = step.ready;
    next.finish = std::max(next.finish, step.ready);
    return offer(call.request, stage, next);
  }
  soonest_.assign(stage.choices.size() + (call.preference.opens ? stage.batches.size() : 0), {.end = Time::max()});
  soon_.assign(soonest_.size(), guided_);
  if (guided_) soon_[guide_[index]] = false;
  // First where inputs are: elsewhere they have to be moved.
  nearest_.clear();
  for (const InvokerId source : from_) {
    const bool listed = source.valid() && std::ranges::find(nearest_, source.value()) != nearest_.end();
    if (source.valid() && !listed && call.view.invokers[source.index()].usable) nearest_.push_back(source.value());
  }
  for (const std::uint32_t i : nearest_) look_at(call, step, call.view.invokers[i]);
  for (const std::uint32_t i : machines_) {
    if (std::ranges::find(nearest_, i) == nearest_.end()) look_at(call, step, call.view.invokers[i]);
  }
  for (const Way& next : soonest_) {
    if (next.end < Time::max()) offer(call.request, stage, next);
  }
}

// Leaves out what another way is no worse than, at every stage that something still follows and in price.
void Placing::prune(const PlaceOrder& order, std::size_t index, bool by_taken) {
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

Placed Placing::result_of(const PlaceOrder& order, const Request& request, std::uint32_t way) const {
  Placed out{.finish = ways_[way].finish, .cost = ways_[way].most, .taken = ways_[way].taken};
  std::vector<Time> latest(order.stages.size(), request.due);  // end of each, by stage
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

bool Placing::search(const Call& call) {
  ways_.clear();
  layer_.assign(1, Way::kNone);
  for (std::size_t i = 0; i < call.order.stages.size(); ++i) {
    next_layer_.clear();
    for (const std::uint32_t way : layer_) extend(call, i, way);
    if (guided_ && !next_layer_.empty())
      next_layer_ = {*std::ranges::min_element(next_layer_, {}, [&](std::uint32_t w) { return ways_[w].end; })};
    else
      prune(call.order, i, call.preference.scarcity != nullptr);
    layer_.swap(next_layer_);
    if (layer_.empty()) return false;
  }
  return true;
}

std::uint32_t Placing::best_of_layer(const Call& call) const {
  const double span = std::max(1e-6, (call.request.deadline - call.view.now).to_ms());
  Dollars cheapest = std::numeric_limits<Dollars>::infinity();
  for (const std::uint32_t w : layer_) cheapest = std::min(cheapest, ways_[w].cost);
  const auto key = [&](std::uint32_t w) {
    const Way& way = ways_[w];
    const double ends = (way.finish - call.view.now).to_ms() / span;
    const double costs = cheapest > 0 ? way.cost / cheapest : 1;
    if (call.preference.scarcity != nullptr) return std::tuple(way.taken, ends, costs, w);
    const double weight = call.preference.cost_weight;
    return std::tuple((1 - weight) * ends + weight * costs, weight > 0.5 ? ends : costs, 0.0, w);
  };
  return *std::ranges::min_element(layer_, {}, key);
}

std::optional<Placed> Placing::place(const View& view, const Request& request, const Preference& preference) {
  const double alone_ms = stages_.alone_ms(view, request.application);
  if (alone_ms > (request.deadline - view.now).to_ms()) return std::nullopt;
  const Call call{view, view.application(request.application), request, stages_.of(view, request.application),
                  preference};
  ++request_;
  choose_machines(call);
  guided_ = guide(call);
  if (guided_ && search(call)) {
    // What ends first is known only if it waits for nothing: another configuration may be free sooner.
    const bool soonest = preference.scarcity == nullptr && preference.cost_weight == 0;
    if (!soonest || ways_[layer_.front()].finish <= view.now + Duration::ms(alone_ms))
      return result_of(call.order, request, layer_.front());
  }
  guided_ = false;
  if (!search(call)) return std::nullopt;
  return result_of(call.order, request, best_of_layer(call));
}

}  // namespace sluice::policy
