// Intake: requests are announced, arrive, and are let in or refused at the next decision.
#pragma once
#include "core/state.h"

namespace sluice::core {

void announce(State& state, const RequestAnnounced& event);
// It waits for admission; one that arrives twice counts once.
void arrive(State& state, const RequestArrived& event);
// Also one that is in the system; one that is over stays as it was answered.
void cancel(State& state, const RequestCancelled& event);

// Accepts or rejects everything that has arrived; what is accepted begins.
void admit(State& state, Commands& out);

}  // namespace sluice::core
