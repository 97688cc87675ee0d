// How a worker process ended, in words that follow "the worker of function 'f'". Used by Agent and the profiler.
#pragma once
#include <optional>
#include <string>

#include "invoker/spawner.h"

namespace sluice::invoker {

// Readable once how_it_ended() knows.
[[nodiscard]] int end_descriptor(const WorkerProcess& process);
// "was killed by signal 11 (SIGSEGV)", "exited with code 3". Nothing: it has not ended, or is not waited for yet. The
// process is still to be waited for. A parked parent is asked once.
[[nodiscard]] std::optional<std::string> how_it_ended(const WorkerProcess& process);

}  // namespace sluice::invoker
