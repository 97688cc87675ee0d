#include "worker/alarm.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "worker/stopwatch.h"

namespace sluice::worker {
namespace {

// False: there is nothing yet. What is wrong with the socket is for who reads it.
bool readable(int socket) {
  char first = 0;
  return ::recv(socket, &first, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

}  // namespace

// Without a bell the reader wakes up by messages alone.
Alarm::Alarm() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Alarm::ring() {
  rung_.store(true);
  if (!asleep_.load()) return;
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
}

void Alarm::sleep_until_readable(int socket) {
  for (Duration look = kLook;;) {
    const Stopwatch since;
    while (since.elapsed() < look) {
      if (readable(socket)) return;
    }
    look = kAhead;
    if (rung_.exchange(false)) continue;
    asleep_.store(true);
    if (!rung_.load()) {  // what rings from now on rings the bell
      std::array<pollfd, 2> ready{{{socket, POLLIN, 0}, {bell_.get(), POLLIN, 0}}};
      (void)::poll(ready.data(), ready.size(), -1);
      std::uint64_t rings = 0;
      if (ready[1].revents != 0) (void)!::read(bell_.get(), &rings, sizeof rings);
      if (ready[0].revents != 0) look = Duration{};
    }
    asleep_.store(false);
    rung_.store(false);
    if (look == Duration{}) return;
  }
}

}  // namespace sluice::worker
