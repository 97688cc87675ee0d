#include "worker/park.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::worker {
namespace {

void become_worker(pid_t parent, const wire::Descriptor& log) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it was gone before that took hold
  std::signal(SIGCHLD, SIG_DFL);          // engines wait for programs they start
  ::dup2(log.get(), STDOUT_FILENO);
  ::dup2(log.get(), STDERR_FILENO);
}

Status answer(wire::Channel& channel, pid_t pid) {
  static_assert(std::endian::native == std::endian::little);
  const auto number = static_cast<std::uint64_t>(pid < 0 ? 0 : pid);
  return channel.send(std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
}

}  // namespace

std::optional<wire::Channel> park(wire::Channel channel) {
  std::signal(SIGCHLD, SIG_IGN);  // children leave nothing behind; that one is gone is seen on its socket
  const pid_t self = ::getpid();
  std::string message;
  for (;;) {
    std::vector<wire::Descriptor> descriptors;
    if (channel.receive(message, &descriptors) != wire::Received::message) return std::nullopt;
    const pid_t pid = descriptors.size() == 2 ? ::fork() : -1;
    if (pid == 0) {
      become_worker(self, descriptors[1]);
      return wire::Channel(std::move(descriptors[0]));
    }
    if (!answer(channel, pid)) return std::nullopt;
  }
}

}  // namespace sluice::worker
