#include "sim/telling.h"

#include <utility>

#include "record/command_hash.h"
#include "sim/oracle/oracles.h"

namespace sluice::sim {
namespace {

constexpr std::size_t kLastEvents = 20;
constexpr std::uint32_t kShadowDecisions = 4;

void remember(WorldState& world, const Event& event, Time now) {
  if (world.last.size() == kLastEvents) world.last.pop_front();
  world.last.emplace_back(event, now);
}

// Saves the scheduler and goes on with a fresh one that has loaded the save: no later command may differ. The saved one
// follows for a few decisions, so that a policy with state outside of its save is found where it differs.
void reload(WorldState& world) {
  const std::string saved = world.scheduler->save();
  auto other = world.fresh_scheduler();
  if (!other->load(saved)) return world.violate("a saved state could not be loaded");
  if (other->save() != saved) return world.violate("a loaded state saves differently");
  world.shadow = std::exchange(world.scheduler, std::move(other));
  world.shadow_decisions = kShadowDecisions;
}

}  // namespace

void tell(WorldState& world, const Event& event, Time now) {
  ++world.result.events;
  ++world.result.events_by_kind[event.index()];
  if (world.options.check_every_event) remember(world, event, now);
  if (world.options.recorder != nullptr) world.options.recorder->observed(event, now);
  world.scheduler->observe(event, now);
  if (world.shadow != nullptr) world.shadow->observe(event, now);
  if (world.options.oracles != nullptr) world.options.oracles->observed(event, now);
  if (world.options.check_every_event) {
    if (const std::string broken = world.scheduler->broken_invariant(); !broken.empty()) world.violate(broken);
  }
  if (world.strikes(world.options.faults.reload_per_event)) reload(world);
}

void compare_with_shadow(WorldState& world, Time now) {
  Commands theirs;
  world.shadow->decide(now, theirs);
  if (record::hash_of(theirs) != record::hash_of(world.commands) ||
      world.shadow->next_wake() != world.scheduler->next_wake())
    world.violate("a loaded scheduler decides differently");
  if (--world.shadow_decisions == 0) world.shadow.reset();
}

}  // namespace sluice::sim
