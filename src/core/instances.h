// Instances: the functions that are loaded on invokers or on their way there, found by id, by invoker and by being
// free.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/slots.h"
#include "policy/view.h"

namespace sluice::core {

class Instances {
 public:
  [[nodiscard]] InstanceId next_id() { return InstanceId(next_++); }
  // REQUIRES: its id is not known.
  policy::Instance& add(const policy::Instance& instance);
  void remove(InstanceId id);
  [[nodiscard]] policy::Instance* find(InstanceId id);
  // A ready one with room for a batch: the one used last, so that others may grow old; equal ones by lowest id.
  [[nodiscard]] policy::Instance* free_at(InvokerId invoker, std::optional<std::uint16_t> gpu,
                                          policy::SharedFunctionId function);
  // One of the function there that could be raised instead of starting from nothing.
  [[nodiscard]] policy::Instance* raisable(InvokerId invoker, policy::SharedFunctionId function, Level below);
  [[nodiscard]] std::vector<InstanceId> at(InvokerId invoker) const;  // ascending
  [[nodiscard]] std::span<const policy::Instance> all() const { return {values_.begin(), values_.end()}; }
  [[nodiscard]] std::span<const policy::Slots> by_function() const { return by_function_; }
  [[nodiscard]] std::span<const policy::Slots> by_invoker() const { return by_invoker_; }
  [[nodiscard]] bool empty() const { return by_id_.empty(); }

  void visit(Archive& archive);

 private:
  template <class Wanted, class Before>
  [[nodiscard]] policy::Instance* best(InvokerId invoker, const Wanted& wanted, const Before& before);
  void index(Slot slot);

  Slots<policy::Instance> values_;
  std::uint64_t next_ = 0;
  // Derived.
  std::unordered_map<InstanceId, Slot> by_id_;  // looked up, never walked
  std::vector<policy::Slots> by_invoker_, by_function_;
};

// Where the memory of an instance at a level is: on its GPU, on the host, or nowhere.
enum class MemoryPlace : std::uint8_t { none, host, device };
[[nodiscard]] constexpr MemoryPlace memory_place(Level level) {
  if (level == Level::device) return MemoryPlace::device;
  return level == Level::host ? MemoryPlace::host : MemoryPlace::none;
}

}  // namespace sluice::core
