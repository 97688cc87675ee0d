// A process that has libraries loaded and warmed, and forks a worker whenever it is asked to: a model is ready in
// milliseconds instead of the 0.5 s that libtorch takes to load. Used by `sluice-worker --park`.
#pragma once
#include <optional>

#include "wire/channel.h"

namespace sluice::worker {

// Every message (its content does not matter) brings two descriptors along: the socket of a new worker and its log. It
// is answered with the worker's process id in eight bytes, little-endian; 0: there is none. Returns in the worker, with
// its socket; it writes to its log, and is killed when the parent ends. Returns nothing in the parent, once the other
// end is closed. REQUIRES: no other threads.
[[nodiscard]] std::optional<wire::Channel> park(wire::Channel channel);

}  // namespace sluice::worker
