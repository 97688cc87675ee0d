#include "gateway/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace sluice::gateway {
namespace {

constexpr int kBacklog = 128;
constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

Error cannot(const std::string& path, const char* why) {
  return {ErrorCode::io, str("cannot listen on the socket '", path, "': ", why)};
}

}  // namespace

// Nobody else gets to it between bind and chmod: nobody is listening yet.
Result<UnixSocket> UnixSocket::listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return cannot(path, "the path is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return cannot(path, std::strerror(errno));
  (void)::unlink(path.c_str());
  UnixSocket out(path, descriptor);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(descriptor, where, sizeof address) != 0 || ::chmod(path.c_str(), kOwnerOnly) != 0 ||
      ::listen(descriptor, kBacklog) != 0) {
    return cannot(path, std::strerror(errno));
  }
  return out;
}

UnixSocket::UnixSocket(UnixSocket&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

UnixSocket::~UnixSocket() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  (void)::unlink(path_.c_str());
}

int UnixSocket::accept() const {
  return ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

}  // namespace sluice::gateway
