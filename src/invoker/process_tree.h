// Process tree: a process with everything it started, as /proc has it. A function may be a program that starts others;
// limits and checks are for all of them together.
#pragma once
#include <sys/types.h>

#include <functional>
#include <vector>

#include "base/bytes.h"

namespace sluice::invoker {

// The process and all its descendants that are there now.
[[nodiscard]] std::vector<pid_t> family_of(pid_t process);
// What they hold that is not shared with others: tensors in shared memory are not theirs.
[[nodiscard]] Bytes private_memory_of(const std::vector<pid_t>& processes);
// All their threads run on these CPUs only, and those they start from now on as well.
void keep_on(const std::vector<pid_t>& processes, const std::vector<int>& cpus);
// Ends what `list` gives and waits, not for long, until it has ended. A number that is another process's by now is left
// alone: `list` is asked twice.
void end_all(const std::function<std::vector<pid_t>()>& list);

}  // namespace sluice::invoker
