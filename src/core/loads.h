// Loads: what is loaded where, and the memory and room it takes in the books. Instances rise and fall as policies wish
// and memory allows; batches enter and leave them.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/books.h"
#include "core/instances.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "policy/policy.h"

namespace sluice::core {

class Loads {
 public:
  // `functions`: by SharedFunctionId. Both outlive this.
  Loads(Books& books, const std::vector<policy::SharedFunction>& functions) : books_(books), functions_(functions) {}

  // An instance that an invoker brought along when it joined; one that its machine has no room for is not used.
  void add(InvokerId invoker, const InstanceStatus& status, policy::SharedFunctionId function, Time now);
  // All of an invoker that joins again: what is really there is told anew.
  void forget(InvokerId invoker);
  // All of an invoker whose books are gone.
  void lose(InvokerId invoker);

  // Events. The function that was loaded, failed to load or fell; nothing if the event is old.
  [[nodiscard]] std::optional<policy::SharedFunctionId> loaded(const InstanceLoaded& event, Time now);
  [[nodiscard]] std::optional<policy::SharedFunctionId> failed(const LoadFailed& event, Time now);
  [[nodiscard]] bool is_raised_from_host(InstanceId id);
  // Since when a function has failed to load `count` times without being loaded; nothing: it has not. Earlier failures
  // are forgotten.
  [[nodiscard]] std::optional<Time> failing_since(policy::SharedFunctionId function, std::uint32_t count);
  [[nodiscard]] std::optional<policy::SharedFunctionId> unloaded(const InstanceUnloaded& event, Time now);

  // A batch starts on an instance. REQUIRES: the books say that one has room; none where everything is warm.
  [[nodiscard]] InstanceId enter(InvokerId invoker, const Claim& claim, const SlicePositions& positions);
  // A batch that runs already, on an instance its invoker brought along; none if that has no room for it.
  [[nodiscard]] InstanceId enter_again(InstanceId id);
  void leave(InstanceId id, Time now);

  // What a policy wishes, as commands. A load that needs room first gives up what is worth the least: its memory is
  // booked at once, and the invoker is told when that is free. False: it cannot be loaded there now.
  bool load(const policy::View& view, const policy::Wishes::Load& wish, std::vector<Action>& out);
  void evict(InstanceId id, std::vector<Action>& out);
  // The loads whose memory is free.
  void proceed(const policy::View& view, std::vector<Action>& out);

  [[nodiscard]] std::span<const policy::Instance> all() const { return instances_.all(); }
  [[nodiscard]] const Instances& instances() const { return instances_; }
  void visit(Archive& archive) { archive(instances_, failures_, held_back_); }

 private:
  [[nodiscard]] bool take_memory(const policy::Instance& instance, Level level);
  void give_back_memory(const policy::Instance& instance, Level level);
  void open_room(const policy::Instance& instance);
  void close_room(const policy::Instance& instance);
  [[nodiscard]] bool has_room(const policy::Instance& instance);
  [[nodiscard]] bool is_first_held_back(const policy::Instance& instance);
  void call_off(policy::Instance& instance);
  void remove(InstanceId id);
  void lower(policy::Instance& instance, bool for_good, std::vector<Action>& out);
  [[nodiscard]] policy::Instance* find_at(InvokerId invoker, InstanceId id);

  Books& books_;
  const std::vector<policy::SharedFunction>& functions_;
  Instances instances_;
  std::vector<std::vector<Time>> failures_;  // to load, since it was loaded; by function
  std::vector<InstanceId> held_back_;        // loads whose memory others hold, in the order in which they were booked
};

}  // namespace sluice::core
