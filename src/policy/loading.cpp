#include "policy/loading.h"

#include <algorithm>
#include <tuple>

#include "policy/announced.h"
#include "policy/runnable.h"
#include "profile/cold_start.h"

namespace sluice::policy {
namespace {

constexpr double kAll = std::numeric_limits<double>::infinity();
constexpr double kPinned = 1e12;
constexpr double kSoonMs = 1'000;
constexpr double kSurely = 0.5;  // what goes for it is worth half as much at the most, so that nothing goes in circles

const Demand* demand_of(const View& view, SharedFunctionId function) {
  return function.index() < view.demand.size() ? &view.demand[function.index()] : nullptr;
}

std::uint32_t waiting_for(const View& view, const SharedFunction& function) {
  std::size_t sum = 0;
  for (const QueueId queue : function.queues) sum += view.queue(queue).waiting.size();
  return static_cast<std::uint32_t>(sum);
}

// Of one invocation alone, at the least configuration.
double service_ms(const View& view, const SharedFunction& function) {
  if (function.queues.empty()) return 0;
  const Queue& queue = view.queue(function.queues.front());
  return plan::least(queue.model->stages[queue.model_stage].candidates).ms;
}

bool on_device(Level level) {
  return level == Level::device;
}

bool is_at(const Instance& instance, Level level, const Wishes::Load& load) {
  return level == load.level && (!on_device(level) || instance.gpu == load.gpu);
}

// What goes, only lies on the host, or was loaded where it cannot run, helps nobody.
bool helps(const View& view, const SharedFunction& function, const Instance& instance) {
  return instance.wanted >= instance.level && instance.wanted != Level::none &&
         instance.wanted == level_at(view, function, view.invokers[instance.invoker.index()]);
}

bool has_room(const View& view, const SharedFunction& function) {
  const auto slots = view.instances_of(function.id);
  return std::any_of(slots.begin(), slots.end(), [&](std::uint32_t slot) {
    const Instance& instance = view.instances[slot];
    return !instance.loading() && instance.running < instance.batches && helps(view, function, instance);
  });
}

// Another instance than those that are there, or on their way there, would find nothing to run on.
bool is_crowded(const View& view, const Wishes::Load& load) {
  std::uint32_t batches = 0;
  for (const std::uint32_t slot : view.instances_of(load.function)) {
    const Instance& instance = view.instances[slot];
    if (instance.invoker == load.invoker && is_at(instance, instance.wanted, load)) batches += instance.batches;
  }
  return batches > 0 && batches >= most_at_once(view, view.functions[load.function.index()],
                                                view.invokers[load.invoker.index()], load.level);
}

// Whether its function has no instance with a lower id that is as far.
bool is_first(const View& view, const Instance& instance) {
  const auto slots = view.instances_of(instance.function);
  return std::none_of(slots.begin(), slots.end(), [&](std::uint32_t slot) {
    const Instance& other = view.instances[slot];
    return other.id < instance.id && other.level == instance.level && other.wanted == other.level;
  });
}

// Whether the queue's tenant may start something of it now.
bool may_start(const View& view, const Queue& queue) {
  const plan::Candidates& candidates = queue.model->stages[queue.model_stage].candidates;
  return view.allowed(queue, plan::least(candidates).configuration);
}

// Likewise of the function. Who may not could keep what others need for as long as the tenant's other functions are
// busy.
bool may_start(const View& view, const SharedFunction& function) {
  return std::any_of(function.queues.begin(), function.queues.end(), [&](QueueId id) {
    const Queue& queue = view.queue(id);
    return !queue.waiting.empty() && may_start(view, queue);
  });
}

// Whether it was loaded for those who wait and they may still come to it: not if their tenant may not start anything,
// and could not use it for as long as its load took.
Time kept_unused_until(const View& view, const SharedFunction& function, const Instance& instance) {
  return instance.idle_since + Duration::ms(load_ms(view, function, Level::none, instance.level));
}
bool may_come_to_it(const View& view, const SharedFunction& function, const Instance& instance) {
  if (!instance.unused || may_start(view, function)) return instance.unused;
  return view.now <= kept_unused_until(view, function, instance);
}

// Whether the instance stays, whatever the load is worth: one of the same function; where others have waited longer
// for its function than anybody for the load, one that was not used yet, and the first; the first
// also where they have not, if the load is another instance of a function that has some. All of a function that is
// waited for if nobody waits for the load. `another`: something of the load's function is ready.
bool stays(const View& view, const Instance& instance, const Wishes::Load& load, bool another) {
  if (instance.function == load.function || is_kept(view, instance) || is_promised(view, instance)) return true;
  const SharedFunction& function = view.functions[instance.function.index()];
  const Oldest oldest = oldest_waiting(view, function);
  if (oldest >= load.oldest) return another && oldest != Oldest{} && is_first(view, instance);
  return load.oldest == Oldest{} || may_come_to_it(view, function, instance) || is_first(view, instance);
}

// How much of the time that loading it from nothing takes is saved by having it there: less where a copy of it lies.
// So what is gained is measured as what is lost (worth_of an instance), and no two functions send each other away.
double saved_there(const View& view, const SharedFunction& function, InvokerId invoker, Level level) {
  const auto slots = view.instances_of(function.id);
  const bool copy = on_device(level) && std::any_of(slots.begin(), slots.end(), [&](std::uint32_t slot) {
                      const Instance& instance = view.instances[slot];
                      return instance.invoker == invoker && instance.idle() && instance.level == Level::host;
                    });
  if (!copy) return 1;
  return std::min(
      1.0, (load_ms(view, function, Level::host, level) + 1) / (load_ms(view, function, Level::none, level) + 1));
}

Bytes free_at(const View& view, const Wishes::Load& load) {
  const Invoker& invoker = view.invokers[load.invoker.index()];
  return on_device(load.level) ? invoker.gpus[load.gpu].memory_free : invoker.memory_free;
}

}  // namespace

bool some_cold(const View& view) {
  return std::any_of(view.invokers.begin(), view.invokers.end(),
                     [](const Invoker& invoker) { return invoker.usable && !invoker.warm; });
}

bool has_ready(const View& view, const SharedFunction& function) {
  const auto slots = view.instances_of(function.id);
  return std::any_of(slots.begin(), slots.end(), [&](std::uint32_t slot) {
    const Instance& instance = view.instances[slot];
    return !instance.loading() && helps(view, function, instance);
  });
}

bool is_kept(const View& view, const Instance& instance) {
  const SharedFunction& function = view.functions[instance.function.index()];
  if (function.min_instances == 0 || !helps(view, function, instance)) return false;
  const auto slots = view.instances_of(function.id);
  const auto before = std::count_if(slots.begin(), slots.end(), [&](std::uint32_t slot) {
    return view.instances[slot].id < instance.id && helps(view, function, view.instances[slot]);
  });
  return before < static_cast<std::int64_t>(function.min_instances);
}

bool is_promised(const View& view, const Instance& instance) {
  const Invoker& invoker = view.invokers[instance.invoker.index()];
  if (invoker.reserved == 0) return false;
  return std::ranges::any_of(invoker.bookings, [&](const Booking& b) {
    const bool on_gpu = b.positions.slices != 0;
    return b.reserved && b.function == instance.function && on_gpu == (instance.level == Level::device) &&
           (!on_gpu || b.positions.gpu == instance.gpu);
  });
}

Oldest oldest_waiting(const View& view, const SharedFunction& function) {
  Oldest oldest;
  for (const QueueId id : function.queues) {
    const Ring<Waiting>& waiting = view.queue(id).waiting;
    if (!waiting.empty()) oldest = std::min(oldest, {waiting.front().ready, waiting.front().invocation});
  }
  return oldest;
}

Stock stock_of(const View& view, const SharedFunction& function) {
  Stock out{.waiting = waiting_for(view, function)};
  for (const std::uint32_t slot : view.instances_of(function.id)) {
    const Instance& instance = view.instances[slot];
    out.on_host = out.on_host || instance.wanted == Level::host;
    if (!helps(view, function, instance)) continue;
    if (instance.loading()) {
      ++out.loading;
      out.first_ready = std::min(out.first_ready, std::max(instance.ready_at, view.now));
    } else {
      ++out.ready;
      out.first_ready = view.now;
    }
  }
  return out;
}

double load_ms(const View& view, const SharedFunction& function, Level from, Level to) {
  const Demand* demand = demand_of(view, function.id);
  if (demand != nullptr && from == Level::none && demand->load_ms >= 0) return demand->load_ms;
  if (demand != nullptr && from == Level::host && demand->raise_ms >= 0) return demand->raise_ms;
  return profile::load_time(function.cold_start, from, to).to_ms();
}

double worth_soon(const View& view, const SharedFunction& function) {
  return kSurely * (load_ms(view, function, Level::none, function.level) + 1) / kSoonMs;
}

double worth_of(const View& view, const SharedFunction& function) {
  const Demand* demand = demand_of(view, function.id);
  if (demand == nullptr) return 0;
  const double copies = 1 + static_cast<double>(view.instances_of(function.id).size());
  return kSurely * (load_ms(view, function, Level::none, function.level) + 1) * demand->per_ms(view.now) /
         (copies * copies);
}

// Of several instances of a function each is missed less.
double worth_of(const View& view, const Instance& instance) {
  const SharedFunction& function = view.functions[instance.function.index()];
  const Demand* demand = demand_of(view, instance.function);
  const bool needed =
      (demand != nullptr && demand->ahead > 0) || waiting_for(view, function) > 0 || is_announced(view, function);
  if (needed && instance.unused) return kPinned;
  double copies = 0;
  for (const std::uint32_t slot : view.instances_of(function.id))
    copies += view.instances[slot].level == instance.level ? 1 : 0;
  const double per_ms = std::max(needed ? 1 / kSoonMs : 0, demand == nullptr ? 0 : demand->per_ms(view.now));
  // From device memory it goes to the host if that has room, and is quick to come back.
  const bool keeps_copy =
      on_device(instance.level) && view.invokers[instance.invoker.index()].memory_free >= function.memory;
  const double missing = load_ms(view, function, keeps_copy ? Level::host : Level::none, instance.level);
  return (missing + 1) * per_ms / std::max(1.0, copies * copies);
}

std::optional<Victims> victims_for(const View& view, const Wishes::Load& load) {
  if (is_crowded(view, load)) return std::nullopt;
  const Bytes needed = view.functions[load.function.index()].memory;
  Bytes free = free_at(view, load);
  struct One {
    double worth = 0, density = 0;
    const Instance* instance = nullptr;
    Bytes memory;
  };
  std::vector<One> idle;
  if (free < needed) {
    const bool another = has_ready(view, view.functions[load.function.index()]);
    for (const std::uint32_t slot : view.instances_at(load.invoker)) {
      const Instance& instance = view.instances[slot];
      if (!is_at(instance, instance.level, load)) continue;
      const Bytes memory = view.functions[instance.function.index()].memory;
      if (instance.wanted < instance.level) free += memory;  // on its way out
      if (!instance.idle()) continue;
      const double worth = worth_of(view, instance);
      if (worth < load.worth && !stays(view, instance, load, another))
        idle.push_back(
            {worth, worth / static_cast<double>(std::max<std::int64_t>(memory.count(), 1)), &instance, memory});
    }
  }
  std::sort(idle.begin(), idle.end(), [](const One& a, const One& b) {
    const auto key = [](const One& o) { return std::tuple(o.density, o.instance->idle_since, o.instance->id); };
    return key(a) < key(b);
  });
  std::size_t count = 0;
  for (; count < idle.size() && free < needed; ++count) free += idle[count].memory;
  if (free < needed) return std::nullopt;
  Victims out;
  for (std::size_t i = count; i-- > 0;) {  // those may stay that a larger one made needless
    if (free - idle[i].memory >= needed) {
      free = free - idle[i].memory;
      continue;
    }
    out.list.push_back(idle[i].instance->id);
    out.loss += idle[i].worth;
  }
  if (out.loss >= load.worth && !out.list.empty()) return std::nullopt;
  return out;
}

std::optional<Wishes::Load> place_to_load(const View& view, const Wishes::Load& wish) {
  const SharedFunction& function = view.functions[wish.function.index()];
  std::optional<Wishes::Load> best;
  std::tuple<Level, double, std::uint32_t, std::int64_t> best_rank;
  for (const Invoker& invoker : view.invokers) {
    if (!invoker.usable || invoker.warm) continue;
    const Level level = level_at(view, function, invoker);
    if (level == Level::none) continue;
    const double worth = wish.worth * saved_there(view, function, invoker.id, level);
    const std::size_t places = on_device(level) ? invoker.gpus.size() : 1;
    for (std::size_t g = 0; g < places; ++g) {
      const Wishes::Load load{function.id, invoker.id, level, static_cast<std::uint16_t>(g), worth, wish.oldest};
      if ((on_device(level) ? invoker.gpus[g].memory : invoker.memory) < function.memory) continue;
      const auto victims = victims_for(view, load);
      if (!victims) continue;
      const std::tuple rank(level, -victims->loss, on_device(level) ? invoker.gpus[g].free_count() : invoker.vcpu_free,
                            free_at(view, load).count());
      if (best && rank <= best_rank) continue;
      best_rank = rank;
      best = load;
    }
  }
  return best;
}

// Another instance where some are ready helps only if the load ends before these have done what waits.
Wishes::Load for_waiting(const View& view, Wishes::Load load) {
  const SharedFunction& function = view.functions[load.function.index()];
  const Stock stock = stock_of(view, function);
  const bool helps = stock.ready == 0 || stock.waiting * service_ms(view, function) / stock.ready >=
                                             load_ms(view, function, Level::none, function.level);
  load.worth = helps ? kAll : 0;
  load.oldest = oldest_waiting(view, function);
  return load;
}

bool needs_load(const View& view, const SharedFunction& function) {
  if (has_room(view, function)) return false;
  const Stock stock = stock_of(view, function);
  return stock.loading < std::min(stock.waiting, 1 + stock.ready / 2);
}

namespace {

// Whether what waits takes longer to run on the instances that are busy with it than another load does.
bool outlasts_load(const View& view, const SharedFunction& function) {
  const double work_ms = waiting_for(view, function) * service_ms(view, function);
  const double load = load_ms(view, function, Level::none, function.level);
  if (work_ms < load) return false;
  double running = 0;
  for (const std::uint32_t slot : view.instances_of(function.id)) {
    if (view.instances[slot].loading()) return false;
    running += view.instances[slot].running;
  }
  return work_ms / std::max(1.0, running) >= load;
}

// Whether nothing runs at the place, and the function is not there either.
bool is_idle_place(const View& view, const Wishes::Load& place) {
  const Invoker& invoker = view.invokers[place.invoker.index()];
  const auto slots = view.instances_of(place.function);
  const bool there = std::any_of(slots.begin(), slots.end(), [&](std::uint32_t slot) {
    return view.instances[slot].invoker == place.invoker &&
           is_at(view.instances[slot], view.instances[slot].wanted, place);
  });
  if (there) return false;
  if (!on_device(place.level)) return invoker.running == 0;
  const Gpu& gpu = invoker.gpus[place.gpu];
  return gpu.free_count() == gpu.slices;
}

class Loading final : public Dispatch {
 public:
  Loading(std::unique_ptr<Dispatch> dispatch, bool in_order) : dispatch_(std::move(dispatch)), in_order_(in_order) {}

  void queued(const View& view, const Queue& queue) override { dispatch_->queued(view, queue); }
  void begin(const View& view) override {
    dispatch_->begin(view);
    cold_ = some_cold(view);
    starting_ = true;
  }
  bool next(const View& view, Proposals& out) override {
    if (starting_ && dispatch_->next(view, out)) return true;
    if (!cold_) return false;
    if (starting_) find_loads(view);
    starting_ = false;
    if (at_ == loads_.size()) return false;
    out.clear();
    out.queue = loads_[at_++].second;
    offer_load(view, out);
    return true;
  }
  void decided(const View& view, const Proposals& proposals, std::optional<std::size_t> booked) override {
    if (starting_) dispatch_->decided(view, proposals, booked);
  }
  void ran(const View& view, const Ran& batch) override { dispatch_->ran(view, batch); }
  void ended(const View& view, RequestId request) override { dispatch_->ended(view, request); }
  void removed(const View& view, const Queue& queue) override { dispatch_->removed(view, queue); }
  [[nodiscard]] Derive derives(const View& view, ApplicationId id) const override {
    return dispatch_->derives(view, id);
  }
  [[nodiscard]] std::uint64_t derived_here() const override { return dispatch_->derived_here(); }
  [[nodiscard]] std::optional<Time> next_wake(const View& view) const override {
    const auto loads = next_to_be_given_up(view), others = dispatch_->next_wake(view);
    return loads && others ? std::min(*loads, *others) : loads ? loads : others;
  }
  void visit(Archive& archive) override { dispatch_->visit(archive); }

 private:
  // Who waits for what is not there, in the order in which it is loaded for them. Behind who may not start nobody does:
  // in order, nothing goes for those.
  void find_loads(const View& view) {
    loads_.clear();
    at_ = 0;
    too_large_ = {};
    Time held_up = Time::max();
    for (const std::uint32_t q : view.busy_queues) {
      const Queue& queue = view.queues[q];
      if (in_order_ && !may_start(view, queue)) held_up = std::min(held_up, queue.waiting.front().ready);
      if (wants_load(view, view.functions[queue.shared.index()]))
        loads_.emplace_back(in_order_ ? queue.waiting.front().ready : queue.waiting.front().deadline, queue.id);
    }
    std::erase_if(loads_, [&](const auto& load) { return in_order_ && load.first > held_up; });
    std::sort(loads_.begin(), loads_.end());
  }

  void offer_load(const View& view, Proposals& out) {
    const Queue& queue = view.queue(out.queue);
    const SharedFunction& function = view.functions[queue.shared.index()];
    if (!wants_load(view, function)) return;
    const Wishes::Load wish = for_waiting(view, {.function = function.id});
    const bool takes_place = in_order_ || (function.level == too_large_.level && function.memory >= too_large_.memory);
    if (takes_place && wish.oldest > too_large_.oldest) return;
    const auto place = place_to_load(view, wish);
    if (place && !needs_load(view, function) && !is_idle_place(view, *place)) return;
    if (place) return out.ranked.push_back({.invoker = place->invoker, .load = place->level, .gpu = place->gpu});
    const Stock stock = stock_of(view, function);
    const bool missing = in_order_ ? stock.ready + stock.loading == 0 : view.instances_of(function.id).empty();
    if (missing && could_be_loaded(view, function)) too_large_ = {function.level, function.memory, wish.oldest};
  }

  // While loads are wanted: when an instance that nobody may use now does not stay any longer for those who wait for
  // it.
  std::optional<Time> next_to_be_given_up(const View& view) const {
    std::optional<Time> first;
    if (!cold_ || loads_.empty()) return first;
    for (const std::uint32_t q : view.busy_queues) {
      const SharedFunction& function = view.functions[view.queues[q].shared.index()];
      if (may_start(view, function)) continue;
      for (const std::uint32_t slot : view.instances_of(function.id)) {
        const Instance& instance = view.instances[slot];
        const Time given_up = kept_unused_until(view, function, instance) + Duration::ns(1);
        if (instance.unused && given_up > view.now && (!first || given_up < *first)) first = given_up;
      }
    }
    return first;
  }

  // Nothing that is loaded has room; or what has room is where too little is free, so long that an idle place is
  // better. A function whose tenant is at its quota gets no second instance: it could not be used.
  static bool wants_load(const View& view, const SharedFunction& function) {
    const auto slots = view.instances_of(function.id);
    const auto is_there = [&](std::uint32_t slot) { return helps(view, function, view.instances[slot]); };
    if (!may_start(view, function) && std::any_of(slots.begin(), slots.end(), is_there)) return false;
    return needs_load(view, function) || outlasts_load(view, function);
  }

  static bool could_be_loaded(const View& view, const SharedFunction& function) {
    return std::any_of(view.invokers.begin(), view.invokers.end(), [&](const Invoker& invoker) {
      return invoker.usable && !invoker.warm && level_at(view, function, invoker) != Level::none;
    });
  }

  std::unique_ptr<Dispatch> dispatch_;
  bool in_order_;
  // Of one instant only: not part of the state.
  bool cold_ = false, starting_ = true;
  std::vector<std::pair<Time, QueueId>> loads_;
  std::size_t at_ = 0;
  struct TooLarge {  // nothing of it is loaded, and no place for it can be made free for who waits for it
    Level level = Level::none;
    Bytes memory;
    Oldest oldest;
  };
  TooLarge too_large_;
};

}  // namespace

std::unique_ptr<Dispatch> make_loading(std::unique_ptr<Dispatch> dispatch, bool in_order) {
  return std::make_unique<Loading>(std::move(dispatch), in_order);
}

}  // namespace sluice::policy
