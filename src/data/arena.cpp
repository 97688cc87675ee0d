#include "data/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/text.h"

namespace sluice::data {
namespace {

// Stretches this large are handed back to the system when they are freed; smaller ones stay warm.
constexpr std::size_t kReturned = 4u << 20;

std::size_t rounded(std::size_t bytes) {
  return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

Error failed(const char* what, Bytes capacity) {
  return {ErrorCode::unavailable,
          str("shared memory of ", to_string(capacity), " cannot be made: ", what, ": ", std::strerror(errno))};
}

}  // namespace

std::byte* Block::data() const {
  return extent_ == nullptr ? nullptr : extent_->arena->base() + extent_->offset;
}

Block::Extent::~Extent() {
  arena->give_back(offset, taken);
}

Result<std::shared_ptr<Arena>> Arena::make(Bytes capacity) {
  const std::size_t bytes = rounded(static_cast<std::size_t>(capacity.count()));
  const int descriptor = ::memfd_create("sluice", MFD_CLOEXEC);
  if (descriptor < 0) return failed("memfd_create", capacity);
  if (::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    ::close(descriptor);
    return failed("ftruncate", capacity);
  }
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (base == MAP_FAILED) {
    ::close(descriptor);
    return failed("mmap", capacity);
  }
  return std::shared_ptr<Arena>(new Arena(descriptor, static_cast<std::byte*>(base), bytes));
}

Arena::Arena(int descriptor, std::byte* base, std::size_t capacity)
    : descriptor_(descriptor), base_(base), capacity_(capacity) {
  free_.emplace(0, capacity);
  free_by_size_.emplace(capacity, 0);
}

Arena::~Arena() {
  ::munmap(base_, capacity_);
  ::close(descriptor_);
}

std::optional<Block> Arena::allocate(std::size_t bytes) {
  if (bytes > capacity_) return std::nullopt;
  const std::size_t taken = rounded(bytes);
  std::size_t offset = 0;
  if (taken > 0) {
    const std::lock_guard lock(mutex_);
    const auto best = free_by_size_.lower_bound({taken, 0});
    if (best == free_by_size_.end()) return std::nullopt;
    const std::size_t size = best->first;
    offset = best->second;
    free_by_size_.erase(best);
    free_.erase(offset);
    if (size > taken) {
      free_.emplace(offset + taken, size - taken);
      free_by_size_.emplace(size - taken, offset + taken);
    }
    used_ += taken;
  }
  return Block(std::make_shared<const Block::Extent>(shared_from_this(), offset, bytes, taken));
}

void Arena::give_back(std::size_t offset, std::size_t taken) {
  if (taken == 0) return;
  if (taken >= kReturned) {
    (void)::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                      static_cast<off_t>(taken));
  }
  const std::lock_guard lock(mutex_);
  CHECK(used_ >= taken);
  used_ -= taken;
  auto after = free_.lower_bound(offset);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      offset = before->first;
      taken += before->second;
      free_by_size_.erase({before->second, before->first});
      free_.erase(before);
    }
  }
  if (after != free_.end() && after->first == offset + taken) {
    taken += after->second;
    free_by_size_.erase({after->second, after->first});
    free_.erase(after);
  }
  free_.emplace(offset, taken);
  free_by_size_.emplace(taken, offset);
}

std::size_t Arena::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace sluice::data
