// Reporting: what the observer of a world is told, if there is one.
#pragma once
#include <optional>

#include "sim/observer.h"
#include "sim/world_state.h"

namespace sluice::sim {

void report(const WorldState& world, const Running& running, ActionEnd end, Time now);
void report(const WorldState& world, RequestId request, const Asked& asked, Ending ending,
            std::optional<RejectReason> reason, PicoDollars cost);
void report(const WorldState& world, const Move& move, ActionKind kind, ActionEnd end, Time now);

}  // namespace sluice::sim
