#include "core/instances.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace sluice::core {
namespace {

bool is_at(const policy::Instance& instance, std::optional<std::uint16_t> gpu) {
  return gpu ? instance.level == Level::device && instance.gpu == *gpu : instance.level == Level::host;
}

}  // namespace

policy::Instance& Instances::add(const policy::Instance& instance) {
  CHECK(!by_id_.contains(instance.id));
  next_ = std::max(next_, instance.id.value() + 1);
  const Slot slot = values_.take();
  values_[slot] = instance;
  values_[slot].used = true;
  index(slot);
  return values_[slot];
}

void Instances::index(Slot slot) {
  const policy::Instance& instance = values_[slot];
  by_id_.emplace(instance.id, slot);
  const auto add = [slot](std::vector<policy::Slots>& lists, std::size_t at) {
    if (at >= lists.size()) lists.resize(at + 1);
    lists[at].push_back(slot);
  };
  add(by_invoker_, instance.invoker.index());
  add(by_function_, instance.function.index());
}

void Instances::remove(InstanceId id) {
  const auto it = by_id_.find(id);
  CHECK(it != by_id_.end());
  std::erase(by_invoker_[values_[it->second].invoker.index()], it->second);
  std::erase(by_function_[values_[it->second].function.index()], it->second);
  values_.give_back(it->second);
  by_id_.erase(it);
}

policy::Instance* Instances::find(InstanceId id) {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &values_[it->second];
}

template <class Wanted, class Before>
policy::Instance* Instances::best(InvokerId invoker, const Wanted& wanted, const Before& before) {
  if (invoker.index() >= by_invoker_.size()) return nullptr;
  policy::Instance* found = nullptr;
  for (const Slot slot : by_invoker_[invoker.index()]) {
    policy::Instance& instance = values_[slot];
    if (wanted(instance) && (found == nullptr || before(instance, *found))) found = &instance;
  }
  return found;
}

policy::Instance* Instances::free_at(InvokerId invoker, std::optional<std::uint16_t> gpu,
                                     policy::SharedFunctionId function) {
  return best(
      invoker,
      [&](const policy::Instance& i) {
        return i.function == function && is_at(i, gpu) && i.wanted == i.level && i.running < i.batches;
      },
      [](const policy::Instance& a, const policy::Instance& b) {
        return std::tuple(b.idle_since, a.id) < std::tuple(a.idle_since, b.id);
      });
}

policy::Instance* Instances::raisable(InvokerId invoker, policy::SharedFunctionId function, Level below) {
  return best(
      invoker,
      [&](const policy::Instance& i) {
        return i.function == function && i.idle() && i.level > Level::none && i.level < below;
      },
      [](const policy::Instance& a, const policy::Instance& b) {
        return std::tuple(b.level, a.id) < std::tuple(a.level, b.id);
      });
}

std::vector<InstanceId> Instances::at(InvokerId invoker) const {
  std::vector<InstanceId> out;
  if (invoker.index() >= by_invoker_.size()) return out;
  for (const Slot slot : by_invoker_[invoker.index()]) out.push_back(values_[slot].id);
  std::sort(out.begin(), out.end());
  return out;
}

void Instances::visit(Archive& archive) {
  archive(values_, next_);
  if (!archive.is_loading()) return;
  by_id_.clear();
  by_invoker_.clear();
  by_function_.clear();
  for (Slot slot = 0; slot < values_.size(); ++slot) {
    if (values_[slot].used) index(slot);
  }
}

}  // namespace sluice::core
