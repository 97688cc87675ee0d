#include <algorithm>

#include "policy/sluice_parts.h"

namespace sluice::policy {

// Waiting made a request late if it would have been in time without; that costs many times what company saves, so it
// may happen to one of 200 only: under load company makes room, and then even they may have been late without it. Not
// so if loads took the time: the slack that was spent on waiting would have made up for them, and one of ten thousand
// is too many. Where a percentile is asked for, being late is allowed for and its price is found instead.
// Too little room made it late if it waited for some longer than it was late by. Who was given up would have been late
// by nobody knows how much: waiting for a tenth of the objective is taken to be the cause.
// `fair`: who was let in can count on being in time, but for one of eighty. Else what counts is how many are, and one
// of twenty that is not makes room for more that are.
void learn_from_end(const View& view, const Inside& request, bool fair, SluiceState& state) {
  constexpr double kMuch = 0.1;
  const double tolerated = fair ? 1.0 / 80 : 1.0 / 20;
  Standing& standing = state.applications[request.application.index()];
  standing.crowd.left(view.now);
  const Objective& objective = view.application(request.application).application->objective;
  const Duration behind = view.now - request.deadline;
  const bool late = request.dropped || behind > Duration{};
  const bool crowded = late && request.queued > std::max(behind, (request.deadline - request.arrival) * kMuch);
  if (request.slices) state.slices.ended(request.arrival, view.now, crowded, tolerated);
  if (request.vcpus) state.vcpus.ended(request.arrival, view.now, crowded, tolerated);
  if (objective.percentile) {
    standing.price.ended(late, *objective.percentile);
    return;
  }
  const bool by_waiting = late && behind < request.waited;
  const bool by_loads = by_waiting && request.loading > std::max(behind, Duration{});
  standing.patience.ended(by_waiting, 0.8, 0.001);
  state.loads.ended(by_loads, 0.05, 0.0001);
}

}  // namespace sluice::policy
