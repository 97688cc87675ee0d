// A process that has libraries loaded and warmed, and forks a worker whenever it is asked to: a model is ready in
// milliseconds instead of the 0.5 s that libtorch takes to load. Used by `sluice-worker --park`.
#pragma once
#include <optional>

#include "wire/channel.h"

namespace sluice::worker {

// Every message is the confinement of a new worker and brings descriptors along: the worker's socket, its log, a pipe
// to which the parent writes how the worker ended (wire::ProcessEnd), once it has waited for it, and, if the
// confinement says so, its model. The message is answered with the worker's process id in eight bytes, little-endian,
// and a handle (pidfd) beside it; 0: there is none. Returns in the worker, with its socket; it writes to its log, leads
// a group of processes of its own, holds nothing of the parent's, is confined, and is killed when the parent ends. A
// worker that has ended is waited for here, after the rest of its group was ended. Returns nothing in the parent, once
// the other end is closed. REQUIRES: no other threads.
[[nodiscard]] std::optional<wire::Channel> park(wire::Channel channel);

}  // namespace sluice::worker
