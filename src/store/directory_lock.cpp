#include "store/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

Error cannot(const std::string& directory, std::string_view what, std::string_view why) {
  return {ErrorCode::io, str("data directory ", directory, " cannot be ", what, ": ", why)};
}

// Others must not read what requests brought along.
Status make(const std::string& directory) {
  std::error_code error;
  if (fs::create_directories(directory, error)) fs::permissions(directory, fs::perms::owner_all, error);
  if (!error && !fs::is_directory(directory, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) return cannot(directory, "made", error.message());
  return Done{};
}

Error taken(const std::string& directory, int file) {
  std::array<char, 24> pid{};
  const ssize_t length = ::pread(file, pid.data(), pid.size(), 0);
  const std::string_view text(pid.data(), static_cast<std::size_t>(length > 0 ? length : 0));
  const std::string who = text.empty() ? std::string("another server") : str("another server (process ", text, ")");
  return {ErrorCode::unavailable,
          str("data directory ", directory, " is in use by ", who, ": stop that one or use another directory")};
}

Status write_pid(const std::string& directory, int file) {
  const std::string pid = str(::getpid());
  const auto length = static_cast<ssize_t>(pid.size());
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, pid.data(), pid.size(), 0) != length) {
    return cannot(directory, "written", std::strerror(errno));
  }
  return Done{};
}

}  // namespace

Result<DirectoryLock> DirectoryLock::take(const std::string& directory) {
  if (const Status made = make(directory); !made) return made.error();
  const std::string path = directory + "/lock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return cannot(directory, "written", std::strerror(errno));
  DirectoryLock lock(file);
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return taken(directory, file);
    return cannot(directory, "locked", std::strerror(errno));
  }
  if (const Status written = write_pid(directory, file); !written) return written.error();
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace sluice::store
