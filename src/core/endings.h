// Endings: how batches end. Their books are given back, their members' results go to the workflow engine.
#pragma once
#include <string>

#include "core/state.h"

namespace sluice::core {

// These change nothing where the batch is not known: its ending was delivered twice, or its machine was given up.
void finish_batch(State& state, const BatchFinished& event);
void expire_batch(State& state, const BatchExpired& event);
// Its members are tried again as long as they may be; nothing is billed.
void fail_batch(State& state, BatchId id, const std::string& error);

// What a request made on an invoker goes when the request ends, or at once if it has.
void hold(State& state, RequestId request, InvokerId invoker);

}  // namespace sluice::core
