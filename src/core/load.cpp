// What is loaded where: instances rise and fall as the prewarm policy wishes and memory allows.
#include <algorithm>

#include "base/check.h"
#include "core/scheduler.h"

namespace sluice::core {
namespace {

std::optional<std::uint16_t> gpu_of(const policy::Instance& instance, Level level) {
  if (memory_place(level) == MemoryPlace::device) return instance.gpu;
  return std::nullopt;
}

bool needs_gpu(const InstanceStatus& status) {
  return std::max(status.level, status.moving_to.value_or(Level::none)) == Level::device;
}

}  // namespace

void Scheduler::give_back_memory(const policy::Instance& instance, Level level) {
  if (memory_place(level) == MemoryPlace::none) return;
  books_.give_back_memory(instance.invoker, gpu_of(instance, level), functions_[instance.function.index()].memory);
}

bool Scheduler::take_memory(const policy::Instance& instance, Level level) {
  if (memory_place(level) == MemoryPlace::none) return true;
  return books_.take_memory(instance.invoker, gpu_of(instance, level), functions_[instance.function.index()].memory);
}

void Scheduler::open_room(policy::Instance& instance) {
  if (memory_place(instance.level) == MemoryPlace::none) return;
  books_.room(instance.invoker, gpu_of(instance, instance.level))
      .add(instance.function, instance.batches - instance.running);
}

void Scheduler::close_room(policy::Instance& instance) {
  if (memory_place(instance.level) == MemoryPlace::none) return;
  books_.room(instance.invoker, gpu_of(instance, instance.level))
      .take(instance.function, instance.batches - instance.running);
}

// One that an invoker brought along when it joined.
void Scheduler::add_instance(InvokerId invoker, const InstanceStatus& status) {
  if (status.application.index() >= controls_.size() || instances_.find(status.id) != nullptr) return;
  const Control& control = controls_[status.application.index()];
  if (status.function.index() >= control.shared.size()) return;
  if (status.gpu >= books_.invokers()[invoker.index()].gpus.size() && needs_gpu(status)) return;
  policy::Instance& instance = instances_.add({.id = status.id,
                                               .function = control.shared[status.function.index()],
                                               .invoker = invoker,
                                               .gpu = status.gpu,
                                               .level = status.level,
                                               .wanted = status.moving_to.value_or(status.level),
                                               .batches = std::max(status.batches, 1u),
                                               .idle_since = now_});
  const bool moves = instance.wanted != instance.level;
  if (take_memory(instance, instance.level)) {
    if (!moves) return open_room(instance);
    if (take_memory(instance, instance.wanted)) return;
    give_back_memory(instance, instance.level);
  }
  instances_.remove(status.id);  // more than the machine says it has: not used
}

void Scheduler::on(const InstanceLoaded& event) {
  policy::Instance* instance = instances_.find(event.instance);
  if (instance == nullptr || instance->invoker != event.invoker || !instance->loading()) return;
  if (event.level < instance->wanted) return;  // on its way
  if (instance->level != Level::none) give_back_memory(*instance, instance->level);
  instance->level = instance->wanted;
  instance->batches = std::max(event.batches, 1u);
  instance->idle_since = now_;
  open_room(*instance);
  load_failures_[instance->function.index()] = 0;
  ++counters_.loads;
  changed_ = true;
}

// A function that fails to load again and again would keep its requests for ever: after a few times they are answered.
void Scheduler::on(const LoadFailed& event) {
  policy::Instance* instance = instances_.find(event.instance);
  if (instance == nullptr || instance->invoker != event.invoker || !instance->loading()) return;
  const policy::SharedFunctionId function = instance->function;
  give_back_memory(*instance, instance->wanted);
  instance->wanted = instance->level;
  instance->idle_since = now_;
  if (instance->level == Level::none)
    instances_.remove(event.instance);
  else
    open_room(*instance);  // as before it was to be raised
  changed_ = true;
  if (++load_failures_[function.index()] < limits_.attempts_max) return;
  load_failures_[function.index()] = 0;
  for (const policy::QueueId queue : functions_[function.index()].queues) {
    while (!queues_[queue].waiting.empty()) {
      const policy::Waiting waiting = take_waiting(queue, 0);
      runs_.fail_stage(place_of(waiting), event.error.empty() ? "LoadFailed" : event.error, now_);
      follow();
    }
  }
}

void Scheduler::on(const InstanceUnloaded& event) {
  policy::Instance* instance = instances_.find(event.instance);
  if (instance == nullptr || instance->invoker != event.invoker || event.level >= instance->level) return;
  if (instance->loading()) return;  // an old message: it rises again
  const bool asked = instance->wanted < instance->level;
  if (asked && event.level > instance->wanted) return;  // on its way down
  if (!asked) close_room(*instance);                    // it fell by itself: its process died
  give_back_memory(*instance, instance->level);
  if (asked && event.level < instance->wanted) give_back_memory(*instance, instance->wanted);
  const bool holds = asked || take_memory(*instance, event.level);
  instance->level = instance->wanted = holds ? event.level : Level::none;
  instance->idle_since = now_;
  changed_ = true;
  if (instance->level != Level::none) return open_room(*instance);
  if (instance->running == 0) instances_.remove(event.instance);
}

// To host memory if there is room, so that it is quick to come back; else for good.
void Scheduler::evict(policy::Instance& instance, bool for_good, Commands& out) {
  CHECK(instance.idle());
  close_room(instance);
  instance.wanted = Level::none;
  if (!for_good && instance.level == Level::device && take_memory(instance, Level::host)) instance.wanted = Level::host;
  emit(out, EvictInstance{.invoker = instance.invoker, .instance = instance.id, .level = instance.wanted});
}

// Room for an instance, by sending away what was used longest ago; false: not now, what is on its way out comes first.
bool Scheduler::make_room(const policy::Instance& instance, Level level, Commands& out) {
  if (take_memory(instance, level)) return true;
  const auto gpu = gpu_of(instance, level);
  Bytes coming;
  for (const InstanceId id : instances_.at(instance.invoker)) {
    const policy::Instance& other = *instances_.find(id);
    const bool same_place = memory_place(other.level) == memory_place(level) && (!gpu || other.gpu == *gpu);
    if (same_place && other.wanted < other.level) coming += functions_[other.function.index()].memory;
  }
  const policy::Invoker& invoker = books_.invokers()[instance.invoker.index()];
  const Bytes free = gpu ? invoker.gpus[*gpu].memory_free : invoker.memory_free;
  const Bytes needed = functions_[instance.function.index()].memory;
  while (free + coming < needed) {
    policy::Instance* oldest = instances_.oldest_idle(instance.invoker, gpu);
    if (oldest == nullptr) break;
    coming += functions_[oldest->function.index()].memory;
    evict(*oldest, !gpu, out);
  }
  return false;
}

void Scheduler::load(const policy::Wishes::Load& wish, Commands& out) {
  CHECK(books_.knows(wish.invoker) && wish.function.index() < functions_.size());
  const policy::Invoker& invoker = books_.invokers()[wish.invoker.index()];
  const policy::SharedFunction& function = functions_[wish.function.index()];
  if (!invoker.usable || invoker.warm || function.queues.empty()) return;  // nobody has such a function any more
  if (wish.level == Level::device && wish.gpu >= invoker.gpus.size()) return;
  policy::Instance* instance = instances_.raisable(wish.invoker, wish.function, wish.level);
  policy::Instance fresh{.function = wish.function, .invoker = wish.invoker, .gpu = wish.gpu};
  if (instance != nullptr) instance->gpu = wish.gpu;
  if (!make_room(instance != nullptr ? *instance : fresh, wish.level, out)) return;
  if (instance == nullptr) {
    fresh.id = instances_.next_id();
    instance = &instances_.add(fresh);
  } else {
    close_room(*instance);
  }
  instance->wanted = wish.level;
  emit(out, LoadInstance{.invoker = wish.invoker,
                         .instance = instance->id,
                         .application = function.application,
                         .function = function.function,
                         .level = wish.level,
                         .gpu = wish.gpu});
}

void Scheduler::prewarm(Commands& out) {
  if (books_.cold_invokers() == 0) return;
  wishes_.clear();
  policies_.prewarm->decide(view(), wishes_);
  for (const InstanceId id : wishes_.evict) {
    policy::Instance* instance = instances_.find(id);
    if (instance != nullptr && instance->idle()) evict(*instance, true, out);
  }
  for (const policy::Wishes::Load& wish : wishes_.load) load(wish, out);
}

}  // namespace sluice::core
