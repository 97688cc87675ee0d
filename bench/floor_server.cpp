// The least that a server with a worker process can take: an HTTP request in, a message to the other process and one
// back, an answer out. Nothing is checked, decided or kept, and the answer is a constant. bench_live shows it beside
// Sluice: what is below this line is the kernel's.
//   floor_server ANSWER   prints its port, serves until it is stopped
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr std::size_t kTensorBytes = 256;  // of a message to the worker: about what Sluice sends

void work(int socket) {
  std::array<char, kTensorBytes> message{};
  for (;;) {
    const ssize_t got = ::recv(socket, message.data(), message.size(), 0);
    if (got <= 0 || ::send(socket, message.data(), static_cast<std::size_t>(got), 0) != got) std::_Exit(0);
  }
}

int listening() {
  const int out = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof(address);
  if (::bind(out, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(out, SOMAXCONN) != 0 ||
      ::getsockname(out, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("floor_server");
    std::exit(1);
  }
  std::printf("%u\n", static_cast<unsigned>(ntohs(address.sin_port)));
  std::fflush(stdout);
  return out;
}

void watch(int epoll, int descriptor) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
  (void)::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: floor_server ANSWER\n", stderr), 2;
  const std::string body = argv[1];
  const std::string answer =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair.data()) != 0) return std::perror("floor_server"), 1;
  if (::fork() == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(pair[0]);
    work(pair[1]);
  }
  ::close(pair[1]);
  const int epoll = ::epoll_create1(0), listener = listening();
  watch(epoll, listener);
  watch(epoll, pair[0]);
  std::array<epoll_event, 64> events{};
  std::array<char, 65536> buffer{};
  for (;;) {
    const int ready = ::epoll_wait(epoll, events.data(), events.size(), -1);
    for (int i = 0; i < ready; ++i) {
      const int from = events[static_cast<std::size_t>(i)].data.fd;
      if (from == listener) {
        const int connection = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
        if (connection >= 0) watch(epoll, connection);
      } else if (from == pair[0]) {
        while (::recv(pair[0], buffer.data(), kTensorBytes, MSG_DONTWAIT) > 0)
          (void)::send(*reinterpret_cast<int*>(buffer.data()), answer.data(), answer.size(), MSG_NOSIGNAL);
      } else if (::recv(from, buffer.data(), buffer.size(), 0) <= 0) {
        ::close(from);
      } else {
        std::array<char, kTensorBytes> message{};
        *reinterpret_cast<int*>(message.data()) = from;
        (void)::send(pair[0], message.data(), message.size(), 0);
      }
    }
  }
}
