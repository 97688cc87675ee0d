#include "wire/process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace sluice::wire {

Descriptor handle_of(pid_t process) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

bool send_signal(const Descriptor& process, int signal) {
  return process.valid() && ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

bool has_ended(const Descriptor& process) {
  pollfd ended{process.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

std::optional<ProcessEnd> end_of(const Descriptor& child) {
  siginfo_t about{};
  const int waited = ::waitid(P_PIDFD, static_cast<id_t>(child.get()), &about, WEXITED | WNOHANG | WNOWAIT);
  if (waited != 0 || about.si_pid == 0) return std::nullopt;
  return ProcessEnd{.by_signal = about.si_code != CLD_EXITED ? 1 : 0, .number = about.si_status};
}

bool wait_for(const Descriptor& child) {
  siginfo_t about{};
  const int waited = ::waitid(P_PIDFD, static_cast<id_t>(child.get()), &about, WEXITED | WNOHANG);
  return waited != 0 || about.si_pid != 0;  // an error: it is not a child (any more)
}

void end_group_of(pid_t child) {
  (void)::kill(-child, SIGKILL);
}

}  // namespace sluice::wire
