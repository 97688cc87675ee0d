#include "wire/channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "wire/messages.h"

namespace sluice::wire {
namespace {

constexpr std::size_t kDescriptorsMax = 4;

}  // namespace

void Descriptor::reset() {
  if (value_ >= 0) ::close(value_);
  value_ = -1;
}

Result<std::pair<Channel, Channel>> Channel::pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{ErrorCode::unavailable, str("a socket for a worker cannot be made: ", std::strerror(errno))};
  }
  (void)::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return std::pair(Channel(Descriptor(ends[0])), Channel(Descriptor(ends[1])));
}

Status Channel::send(std::string_view message, const std::vector<int>& descriptors) {
  iovec part{const_cast<char*>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kDescriptorsMax)> control{};
  if (!descriptors.empty()) {
    const std::size_t bytes = sizeof(int) * descriptors.size();
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* beside = CMSG_FIRSTHDR(&header);
    beside->cmsg_level = SOL_SOCKET;
    beside->cmsg_type = SCM_RIGHTS;
    beside->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(beside), descriptors.data(), bytes);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(message.size())) return Done{};
  return Error{ErrorCode::unavailable, str("a worker cannot be told anything: ", std::strerror(errno))};
}

Received Channel::receive(std::string& message, std::vector<Descriptor>* descriptors) {
  if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<char[]>(message_bytes_max);
  iovec part{buffer_.get(), message_bytes_max};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kDescriptorsMax)> control{};
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Received::nothing;
  for (cmsghdr* beside = CMSG_FIRSTHDR(&header); got >= 0 && beside != nullptr; beside = CMSG_NXTHDR(&header, beside)) {
    if (beside->cmsg_level != SOL_SOCKET || beside->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (beside->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(beside) + i * sizeof(int), sizeof(int));
      Descriptor owned(descriptor);
      if (descriptors != nullptr) descriptors->push_back(std::move(owned));
    }
  }
  if (got <= 0 || (header.msg_flags & MSG_TRUNC) != 0) return Received::closed;
  message.assign(buffer_.get(), static_cast<std::size_t>(got));
  return Received::message;
}

}  // namespace sluice::wire
