// The life of a worker: loads one function, runs batches of it until it is told to stop. Used by `sluice-worker`.
#pragma once
#include "base/result.h"
#include "wire/channel.h"

namespace sluice::worker {

// Blocks. Done: stopped, or the server is gone. An error: the function cannot be loaded (the server was told) or the
// server does not keep to the protocol. What is wrong with one batch is answered, and the next one runs.
[[nodiscard]] Status serve(wire::Channel channel);

}  // namespace sluice::worker
