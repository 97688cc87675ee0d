#include "core/loads.h"

#include <algorithm>

#include "base/check.h"
#include "policy/loading.h"

namespace sluice::core {
namespace {

std::optional<std::uint16_t> gpu_of(const policy::Instance& instance, Level level) {
  if (memory_place(level) == MemoryPlace::device) return instance.gpu;
  return std::nullopt;
}

bool goes_to_same_place(const policy::Instance& a, const policy::Instance& b) {
  return a.invoker == b.invoker && gpu_of(a, a.wanted) == gpu_of(b, b.wanted);
}

bool needs_gpu(const InstanceStatus& status) {
  return std::max(status.level, status.moving_to.value_or(Level::none)) == Level::device;
}

}  // namespace

void Loads::give_back_memory(const policy::Instance& instance, Level level) {
  if (memory_place(level) == MemoryPlace::none) return;
  books_.give_back_memory(instance.invoker, gpu_of(instance, level), functions_[instance.function.index()].memory);
}

bool Loads::take_memory(const policy::Instance& instance, Level level) {
  if (memory_place(level) == MemoryPlace::none) return true;
  return books_.take_memory(instance.invoker, gpu_of(instance, level), functions_[instance.function.index()].memory);
}

void Loads::open_room(const policy::Instance& instance) {
  if (memory_place(instance.level) == MemoryPlace::none) return;
  books_.room(instance.invoker, gpu_of(instance, instance.level))
      .add(instance.function, instance.batches - instance.running);
}

void Loads::close_room(const policy::Instance& instance) {
  if (memory_place(instance.level) == MemoryPlace::none) return;
  books_.room(instance.invoker, gpu_of(instance, instance.level))
      .take(instance.function, instance.batches - instance.running);
}

void Loads::add(InvokerId invoker, const InstanceStatus& status, policy::SharedFunctionId function, Time now) {
  if (instances_.find(status.id) != nullptr) return;
  if (status.gpu >= books_.invokers()[invoker.index()].gpus.size() && needs_gpu(status)) return;
  policy::Instance& instance = instances_.add({.id = status.id,
                                               .function = function,
                                               .invoker = invoker,
                                               .gpu = status.gpu,
                                               .level = status.level,
                                               .wanted = status.moving_to.value_or(status.level),
                                               .batches = std::max(status.batches, 1u),
                                               .idle_since = now});
  const bool moves = instance.wanted != instance.level;
  if (take_memory(instance, instance.level)) {
    if (!moves) return open_room(instance);
    if (take_memory(instance, instance.wanted)) return;
    give_back_memory(instance, instance.level);
  }
  instances_.remove(status.id);  // more than the machine says it has: not used
}

void Loads::remove(InstanceId id) {
  std::erase(held_back_, id);
  instances_.remove(id);
}

void Loads::forget(InvokerId invoker) {
  for (const InstanceId id : instances_.at(invoker)) {
    const policy::Instance& instance = *instances_.find(id);
    give_back_memory(instance, instance.level);
    if (instance.wanted != instance.level)
      give_back_memory(instance, instance.wanted);
    else
      close_room(instance);
    remove(id);
  }
}

void Loads::lose(InvokerId invoker) {
  for (const InstanceId id : instances_.at(invoker)) remove(id);
}

policy::Instance* Loads::find_at(InvokerId invoker, InstanceId id) {
  policy::Instance* instance = instances_.find(id);
  return instance != nullptr && instance->invoker == invoker ? instance : nullptr;
}

bool Loads::is_raised_from_host(InstanceId id) {
  const policy::Instance* instance = instances_.find(id);
  return instance != nullptr && instance->level == Level::host;
}

std::optional<policy::SharedFunctionId> Loads::loaded(const InstanceLoaded& event, Time now) {
  policy::Instance* instance = find_at(event.invoker, event.instance);
  if (instance == nullptr || !instance->loading() || instance->held_back) return std::nullopt;
  if (event.level < instance->wanted) return std::nullopt;  // on its way
  if (instance->level != Level::none) give_back_memory(*instance, instance->level);
  instance->level = instance->wanted;
  instance->batches = std::max(event.batches, 1u);
  instance->idle_since = now;
  open_room(*instance);
  if (instance->function.index() < failures_.size()) failures_[instance->function.index()].clear();
  return instance->function;
}

std::optional<policy::SharedFunctionId> Loads::failed(const LoadFailed& event, Time now) {
  policy::Instance* instance = find_at(event.invoker, event.instance);
  if (instance == nullptr || !instance->loading() || instance->held_back) return std::nullopt;
  const policy::SharedFunctionId function = instance->function;
  give_back_memory(*instance, instance->wanted);
  instance->wanted = instance->level;
  instance->idle_since = now;
  instance->unused = false;
  if (instance->level == Level::none)
    instances_.remove(event.instance);
  else
    open_room(*instance);  // as before it was to be raised
  if (function.index() >= failures_.size()) failures_.resize(function.index() + 1);
  failures_[function.index()].push_back(now);
  return function;
}

std::optional<policy::SharedFunctionId> Loads::unloaded(const InstanceUnloaded& event, Time now) {
  policy::Instance* instance = find_at(event.invoker, event.instance);
  if (instance == nullptr || event.level >= instance->level) return std::nullopt;
  if (instance->loading()) return std::nullopt;  // an old message: it rises again
  const policy::SharedFunctionId function = instance->function;
  const bool asked = instance->wanted < instance->level;
  if (asked && event.level > instance->wanted) return std::nullopt;  // on its way down
  if (!asked) close_room(*instance);                                 // it fell by itself: its process died
  give_back_memory(*instance, instance->level);
  if (asked && event.level < instance->wanted) give_back_memory(*instance, instance->wanted);
  const bool holds = asked || take_memory(*instance, event.level);
  instance->level = instance->wanted = holds ? event.level : Level::none;
  instance->idle_since = now;
  if (instance->level != Level::none)
    open_room(*instance);
  else if (instance->running == 0)
    instances_.remove(event.instance);
  return function;
}

std::optional<Time> Loads::failing_since(policy::SharedFunctionId function, std::uint32_t count) {
  if (function.index() >= failures_.size()) return std::nullopt;
  std::vector<Time>& at = failures_[function.index()];
  if (at.empty() || at.size() < count) return std::nullopt;
  at.erase(at.begin(), at.end() - std::max<std::ptrdiff_t>(count, 1));
  return at.front();
}

InstanceId Loads::enter(InvokerId invoker, const Claim& claim, const SlicePositions& positions) {
  if (books_.invokers()[invoker.index()].warm) return InstanceId::none();
  const bool on_gpu = claim.configuration.slices > 0;
  const auto gpu = on_gpu ? std::optional(positions.gpu) : std::nullopt;
  policy::Instance* instance = instances_.free_at(invoker, gpu, claim.function);
  CHECK_MSG(instance != nullptr, "a batch runs only where its instance is loaded");
  ++instance->running;
  instance->unused = false;
  books_.room(invoker, gpu).take(claim.function, 1);
  return instance->id;
}

InstanceId Loads::enter_again(InstanceId id) {
  policy::Instance* instance = id.valid() ? instances_.find(id) : nullptr;
  if (instance == nullptr || instance->wanted != instance->level || instance->running >= instance->batches)
    return InstanceId::none();
  close_room(*instance);
  ++instance->running;
  instance->unused = false;
  open_room(*instance);
  return id;
}

void Loads::leave(InstanceId id, Time now) {
  policy::Instance* instance = instances_.find(id);
  if (instance == nullptr) return;
  CHECK(instance->running > 0);
  --instance->running;
  instance->idle_since = now;
  if (instance->level == Level::none && instance->running == 0) return instances_.remove(id);
  if (instance->wanted != instance->level) return;
  books_.room(instance->invoker, gpu_of(*instance, instance->level)).add(instance->function, 1);
}

// To host memory if there is room, so that it is quick to come back; else for good.
void Loads::lower(policy::Instance& instance, bool for_good, std::vector<Action>& out) {
  CHECK(instance.idle());
  close_room(instance);
  instance.wanted = Level::none;
  if (!for_good && instance.level == Level::device && take_memory(instance, Level::host)) instance.wanted = Level::host;
  out.emplace_back(EvictInstance{.invoker = instance.invoker, .instance = instance.id, .level = instance.wanted});
}

bool Loads::load(const policy::View& view, const policy::Wishes::Load& wish, std::vector<Action>& out) {
  CHECK(books_.knows(wish.invoker) && wish.function.index() < functions_.size());
  const policy::Invoker& invoker = books_.invokers()[wish.invoker.index()];
  const policy::SharedFunction& function = functions_[wish.function.index()];
  if (!invoker.usable || invoker.warm || function.queues.empty()) return false;  // nobody has such a function any more
  if (wish.level == Level::device && wish.gpu >= invoker.gpus.size()) return false;
  const auto victims = policy::victims_for(view, wish);
  if (!victims) return false;
  for (const InstanceId id : victims->list) lower(*instances_.find(id), wish.level != Level::device, out);
  policy::Instance* instance = instances_.raisable(wish.invoker, wish.function, wish.level);
  if (instance == nullptr) {
    instance = &instances_.add({.id = instances_.next_id(), .function = wish.function, .invoker = wish.invoker});
  } else {
    close_room(*instance);
  }
  instance->gpu = wish.gpu;
  instance->wanted = wish.level;
  instance->held_back = instance->unused = true;
  instance->ready_at = view.now + Duration::ms(policy::load_ms(view, function, instance->level, wish.level));
  books_.owe_memory(wish.invoker, gpu_of(*instance, wish.level), function.memory);
  held_back_.push_back(instance->id);
  return true;
}

// Whether the memory of the first load that is held back at its place is free: all of them have booked theirs.
bool Loads::has_room(const policy::Instance& instance) {
  Bytes free = books_.free_memory(instance.invoker, gpu_of(instance, instance.wanted));
  for (const InstanceId id : held_back_) {
    const policy::Instance& other = *instances_.find(id);
    if (goes_to_same_place(other, instance)) free += functions_[other.function.index()].memory;
  }
  return free >= functions_[instance.function.index()].memory;
}

bool Loads::is_first_held_back(const policy::Instance& instance) {
  const auto first = std::find_if(held_back_.begin(), held_back_.end(),
                                  [&](InstanceId id) { return goes_to_same_place(*instances_.find(id), instance); });
  return *first == instance.id;
}

void Loads::call_off(policy::Instance& instance) {
  give_back_memory(instance, instance.wanted);
  if (instance.level == Level::none) return remove(instance.id);
  std::erase(held_back_, instance.id);
  instance.wanted = instance.level;
  instance.held_back = instance.unused = false;
  open_room(instance);
}

void Loads::proceed(const policy::View& view, std::vector<Action>& out) {
  for (std::size_t i = 0; i < held_back_.size();) {
    policy::Instance& instance = *instances_.find(held_back_[i]);
    const policy::SharedFunction& function = functions_[instance.function.index()];
    if (function.queues.empty()) {  // nobody has such a function any more
      call_off(instance);
      continue;
    }
    if (!is_first_held_back(instance) || !has_room(instance)) {
      ++i;
      continue;
    }
    held_back_.erase(held_back_.begin() + static_cast<std::ptrdiff_t>(i));
    instance.held_back = false;
    instance.ready_at = view.now + Duration::ms(policy::load_ms(view, function, instance.level, instance.wanted));
    out.emplace_back(LoadInstance{.invoker = instance.invoker,
                                  .instance = instance.id,
                                  .application = function.application,
                                  .function = function.function,
                                  .level = instance.wanted,
                                  .gpu = instance.gpu});
  }
}

void Loads::evict(InstanceId id, std::vector<Action>& out) {
  policy::Instance* instance = instances_.find(id);
  if (instance != nullptr && instance->idle()) lower(*instance, true, out);
}

}  // namespace sluice::core
