// Mapping: the server's arena as a worker sees it. Every offset that comes in a message is checked here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/result.h"
#include "wire/channel.h"

namespace sluice::worker {

class Mapping {
 public:
  // An error if the descriptor is not memory of at least that size.
  [[nodiscard]] static Result<Mapping> map(const wire::Descriptor& memory, std::uint64_t bytes);
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();

  // Nothing if it is not all inside.
  [[nodiscard]] std::optional<std::span<std::byte>> at(std::uint64_t offset, std::uint64_t size) const;
  // REQUIRES: `part` is inside.
  [[nodiscard]] std::uint64_t offset_of(std::span<const std::byte> part) const;

 private:
  explicit Mapping(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

}  // namespace sluice::worker
