#include "live/appended_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace sluice::live {

Result<std::unique_ptr<AppendedFile>> AppendedFile::create(const std::string& path, std::uint64_t most) {
  most = std::max(most, kFirst);
  wire::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  std::unique_ptr<AppendedFile> out(new AppendedFile(path, std::move(file), most));
  if (!out->file_.valid()) return out->failed(errno);
  void* base = ::mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, out->file_.get(), 0);
  if (base == MAP_FAILED) {
    out->room_ = most;
    return out;
  }
  out->base_ = static_cast<std::byte*>(base);
  if (const Status grown = out->grow(kFirst); !grown) return grown.error();
  return out;
}

AppendedFile::~AppendedFile() {
  close();
}

Error AppendedFile::failed(int reason) const {
  return {ErrorCode::io, str(path_, ": ", std::strerror(reason))};
}

// The disk has the room before anybody writes there: a page without a place on it would end the process. A disk that is
// nearly full gives a little.
Status AppendedFile::grow(std::uint64_t wanted) {
  const std::lock_guard lock(growing_);
  const auto make = [&](std::uint64_t bytes) {
    return ::posix_fallocate(file_.get(), static_cast<off_t>(room_.load()), static_cast<off_t>(bytes));
  };
  while (wanted > room_) {
    if (wanted > most_) return failed(EFBIG);
    std::uint64_t piece = std::min(std::max(kFirst, wanted - room_), most_ - room_);
    int reason = make(piece);
    for (; reason == ENOSPC && piece > kLeast; reason = make(piece)) piece = std::max(kLeast, piece / 2);
    if (reason != 0) return failed(reason);
    (void)::madvise(base_ + room_, piece, MADV_POPULATE_WRITE);
    room_ += piece;
  }
  return Done{};
}

bool AppendedFile::wants_room() {
  return room_ < std::min(size_ + kPiece / 2, most_) && !asked_.exchange(true);
}

// What was appended stays in the page cache and need not be in our memory any more.
void AppendedFile::make_room() {
  constexpr std::uint64_t kPages = 64u << 10;  // a multiple of any page's size
  if (grow(std::min(room_ + kPiece, most_)).ok()) asked_ = false;
  const std::lock_guard lock(growing_);
  const std::uint64_t whole = size_ / kPages * kPages;
  if (base_ != nullptr && whole > released_) (void)::madvise(base_ + released_, whole - released_, MADV_DONTNEED);
  released_ = whole;
}

Status AppendedFile::append(std::string_view bytes, std::size_t last) {
  const std::uint64_t size = size_, wanted = size + bytes.size();
  if (wanted > room_) {
    if (const Status grown = grow(wanted); !grown) return grown;
  }
  if (base_ == nullptr) return write(bytes);
  last = std::min(last, bytes.size());
  std::memcpy(base_ + size + last, bytes.data() + last, bytes.size() - last);
  std::atomic_signal_fence(std::memory_order_release);
  std::memcpy(base_ + size, bytes.data(), last);
  size_ = wanted;
  return Done{};
}

Status AppendedFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_.load()));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failed(errno);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    size_ += static_cast<std::uint64_t>(wrote);
  }
  return Done{};
}

void AppendedFile::close() {
  if (base_ != nullptr) ::munmap(base_, most_);
  if (file_.valid()) (void)!::ftruncate(file_.get(), static_cast<off_t>(size_.load()));
  base_ = nullptr;
  file_.reset();
}

}  // namespace sluice::live
