// Following the workflow engine: invocations that are ready join their queues, requests that are over are answered.
#pragma once
#include "core/state.h"

namespace sluice::core {

// Does all that Runs asks for. Called after every call that changes Runs, before anything else looks at the queues.
void follow(State& state);

}  // namespace sluice::core
