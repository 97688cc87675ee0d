#include "worker/mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/text.h"

namespace sluice::worker {

Result<Mapping> Mapping::map(const wire::Descriptor& memory, std::uint64_t bytes) {
  struct stat file {};
  if (::fstat(memory.get(), &file) != 0 || file.st_size < 0 || static_cast<std::uint64_t>(file.st_size) < bytes) {
    return Error{ErrorCode::invalid, str("the shared memory that came along has less than ", bytes, " bytes")};
  }
  if (bytes == 0) return Mapping(std::span<std::byte>{});
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory.get(), 0);
  if (base == MAP_FAILED) {
    return Error{ErrorCode::unavailable,
                 str("shared memory of ", bytes, " bytes cannot be mapped: ", std::strerror(errno))};
  }
  return Mapping(std::span(static_cast<std::byte*>(base), bytes));
}

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

std::optional<std::span<std::byte>> Mapping::at(std::uint64_t offset, std::uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) return std::nullopt;
  return bytes_.subspan(offset, size);
}

std::uint64_t Mapping::offset_of(std::span<const std::byte> part) const {
  if (part.empty()) return 0;
  CHECK(part.data() >= bytes_.data() && part.data() + part.size() <= bytes_.data() + bytes_.size());
  return static_cast<std::uint64_t>(part.data() - bytes_.data());
}

}  // namespace sluice::worker
