// The life of a worker process: loads functions and runs batches of them until it is told to stop. Used by
// `sluice-worker`.
#pragma once
#include "base/result.h"
#include "engine/engine.h"
#include "wire/channel.h"
#include "worker/functions.h"
#include "worker/mapping.h"

namespace sluice::worker {

// Blocks. Done: stopped, or the server is gone. An error: the server does not keep to the protocol, or speaks another
// version of it. What is wrong with one function or batch is answered, and the worker goes on.
[[nodiscard]] Status serve(wire::Channel channel, const MakeEngine& make = engine::make_engine);

// What comes after Hello. Alone: this thread reads messages and runs batches one after the other, so that a batch costs
// no change of threads. In lanes: this thread reads, a thread each runs up to `lanes` batches at once, one more loads;
// a position of a GPU has a thread of its own.
[[nodiscard]] Status serve_alone(wire::Channel& channel, const Mapping& mapping, const MakeEngine& make);
[[nodiscard]] Status serve_lanes(wire::Channel& channel, const Mapping& mapping, const MakeEngine& make,
                                 std::uint32_t lanes, engine::Gpu gpu);

// The server sent something that is not its turn.
[[nodiscard]] Error out_of_turn(const std::string& what);

}  // namespace sluice::worker
