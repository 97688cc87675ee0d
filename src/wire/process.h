// A process by a handle (pidfd). A number may be another process's by the time it is used; a handle never is. Used by
// whoever starts, ends or waits for processes: spawner, reaper, the parked parent.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "wire/channel.h"

namespace sluice::wire {

// Not valid if there is no such process. REQUIRES: a child that nobody has waited for, else it may be another one.
[[nodiscard]] Descriptor handle_of(pid_t process);
// False: it has ended.
bool send_signal(const Descriptor& process, int signal);
// Whether it has ended; it may still have to be waited for.
[[nodiscard]] bool has_ended(const Descriptor& process);
// How a process ended: the number of a signal, or what it exited with. As bytes between processes of one build.
struct ProcessEnd {
  std::int32_t by_signal = 0, number = 0;
};
// Of a child that has ended and is not waited for, which it still has to be.
[[nodiscard]] std::optional<ProcessEnd> end_of(const Descriptor& child);
// Takes leave of a child that has ended. False: it has not, or somebody traces it.
bool wait_for(const Descriptor& child);
// Ends the group that the child leads. REQUIRES: nobody has waited for the child: until then the number is its own.
void end_group_of(pid_t child);

}  // namespace sluice::wire
