// How a worker process ended, in words that follow "the worker of function 'f'", and what is known besides. Used by
// Agent, its batches and the profiler.
#pragma once
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/remark.h"
#include "invoker/spawner.h"

namespace sluice::invoker {

// Readable once how_it_ended() knows.
[[nodiscard]] int end_descriptor(const WorkerProcess& process);
// "was killed by signal 11 (SIGSEGV)", "exited with code 3". Nothing: it has not ended, or is not waited for yet. The
// process is still to be waited for. A parked parent is asked once.
[[nodiscard]] std::optional<std::string> how_it_ended(const WorkerProcess& process);

// For whoever runs the server; `quiet`: for the log alone.
[[nodiscard]] Remark worker_remark(Remark::Level level, std::string text, bool quiet = false);

// "went over its memory limit of 20MB".
[[nodiscard]] std::string over_memory(Bytes most);
// What it printed last may be the reason; empty: nothing is known.
[[nodiscard]] std::string with_last_line(const std::string& said, const std::string& line);
// Whether an error of a batch says that the program of a function ended, and not its worker: nothing but the worker's
// control group and its log know why.
[[nodiscard]] bool program_ended(const std::string& error);

}  // namespace sluice::invoker
