#include "core/prewarming.h"

#include <utility>
#include <vector>

namespace sluice::core {
namespace {

constexpr Duration kPrewarmGap = Duration::ms(1);

}  // namespace

void prewarm(State& state, Commands& out) {
  std::vector<Action> actions;
  const bool asked = state.is_due(state.prewarm_at);
  for (bool loads = asked; loads;) {
    loads = false;
    state.wishes.clear();
    state.policies.prewarm->decide(state.view(), state.wishes);
    for (const InstanceId id : state.wishes.evict) state.loads.evict(id, actions);
    for (const policy::Wishes::Load& wish : state.wishes.load)
      loads = state.loads.load(state.view(), wish, actions) || loads;
  }
  state.loads.proceed(state.view(), actions);
  for (Action& action : actions) state.tell(out, std::move(action));
  if (!asked) return;
  state.prewarm_after = state.now + kPrewarmGap;
  state.prewarm_at = state.later(state.policies.prewarm->next_wake(state.view()));
}

void prewarm_soon(State& state) {
  if (!state.prewarm_at || *state.prewarm_at > state.prewarm_after) state.prewarm_at = state.prewarm_after;
}

}  // namespace sluice::core
