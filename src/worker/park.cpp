#include "worker/park.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/process.h"
#include "worker/confine.h"

namespace sluice::worker {
namespace {

constexpr int kSocket = 3;

struct Child {
  pid_t pid = 0;
  wire::Descriptor handle;
  wire::Descriptor end;  // where to say how it ended
};

// Nothing of the parent's stays open: neither its own socket nor the handles of other workers. What it is given is
// moved out of the way of the numbers it gets.
wire::Channel become_worker(pid_t parent, const wire::Confinement& confinement,
                            const std::vector<wire::Descriptor>& given) {
  ::setsid();
  ::dup2(given[1].get(), STDOUT_FILENO);
  ::dup2(given[1].get(), STDERR_FILENO);
  const int last = confinement.model ? wire::kModelDescriptor : kSocket;
  const int socket = ::fcntl(given[0].get(), F_DUPFD, wire::kModelDescriptor + 1);
  const int model = confinement.model ? ::fcntl(given[3].get(), F_DUPFD, wire::kModelDescriptor + 1) : -1;
  ::dup2(socket, kSocket);
  if (model >= 0) ::dup2(model, wire::kModelDescriptor);
  for (int kept = kSocket; kept <= last; ++kept) (void)::fcntl(kept, F_SETFD, FD_CLOEXEC);
  (void)::close_range(static_cast<unsigned>(last) + 1, ~0u, 0);
  // Before anything reads them: the parent has libtorch loaded, and never uses a GPU.
  for (const std::string& variable : confinement.variables) {
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos) ::setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
  }
  if (!confinement.scratch.empty()) {
    ::setenv("HOME", confinement.scratch.c_str(), 1);
    ::setenv("TMPDIR", confinement.scratch.c_str(), 1);
  }
  if (const Status confined = confine(confinement, parent); !confined) {
    std::fprintf(stderr, "sluice-worker: %s\n", confined.error().message.c_str());
    ::_exit(1);
  }
  return wire::Channel(wire::Descriptor(kSocket));
}

Status answer(wire::Channel& channel, const Child& child) {
  static_assert(std::endian::native == std::endian::little);
  const auto number = static_cast<std::uint64_t>(child.pid);
  const std::string_view bytes(reinterpret_cast<const char*>(&number), sizeof number);
  return child.pid == 0 ? channel.send(bytes) : channel.send(bytes, {child.handle.get()});
}

// Until the other end has something to say, or has closed. Meanwhile those that end are waited for. One that has ended
// stays while somebody traces it: it is looked at again.
void wait_for_message(const wire::Channel& channel, std::vector<Child>& children) {
  constexpr int kLookAgainMs = 20;
  for (;;) {
    std::vector<pollfd> ready{{channel.descriptor(), POLLIN, 0}};
    for (const Child& child : children) {
      if (!wire::has_ended(child.handle)) ready.push_back({child.handle.get(), POLLIN, 0});
    }
    const bool traced = ready.size() <= children.size();
    if (::poll(ready.data(), ready.size(), traced ? kLookAgainMs : -1) < 0) continue;
    std::erase_if(children, [](const Child& child) {
      if (!wire::has_ended(child.handle)) return false;
      wire::end_group_of(child.pid);
      const auto end = wire::end_of(child.handle);
      if (!wire::wait_for(child.handle)) return false;
      if (end) (void)!::write(child.end.get(), &*end, sizeof *end);
      return true;
    });
    if (ready.front().revents != 0) return;
  }
}

}  // namespace

std::optional<wire::Channel> park(wire::Channel channel) {
  const pid_t self = ::getpid();
  std::vector<Child> children;
  std::string message;
  for (;;) {
    wait_for_message(channel, children);
    std::vector<wire::Descriptor> descriptors;
    if (channel.receive(message, &descriptors) != wire::Received::message) return std::nullopt;
    const auto confinement = wire::decode_confinement(message);
    const std::size_t needed = confinement && confinement->model ? 4 : 3;
    const pid_t pid = confinement && descriptors.size() == needed ? ::fork() : -1;
    if (pid == 0) {
      wire::Channel socket = become_worker(self, *confinement, descriptors);
      for (wire::Descriptor& closed : descriptors) (void)closed.release();
      for (Child& other : children) {
        (void)other.handle.release();
        (void)other.end.release();
      }
      (void)channel.take().release();
      return socket;
    }
    Child child;
    if (pid > 0) {
      child = {pid, wire::handle_of(pid), std::move(descriptors[2])};
      if (!child.handle.valid()) {  // no descriptors left
        (void)::kill(pid, SIGKILL);
        (void)::waitpid(pid, nullptr, 0);
        child = {};
      }
    }
    if (!answer(channel, child)) return std::nullopt;
    if (child.pid > 0) children.push_back(std::move(child));
  }
}

}  // namespace sluice::worker
