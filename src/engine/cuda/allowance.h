// Allowance: what the functions of a worker may take of its GPU besides their weights, for activations and graphs: what
// is left of `memory:` of each, all together, since they share pools. The scheduler booked as much and no more.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace sluice::engine::cuda {

// For people: "52 MB".
inline std::string in_megabytes(Bytes bytes) {
  constexpr std::int64_t kMega = 1'000'000;
  return std::to_string((bytes.count() + kMega / 2) / kMega) + " MB";
}

class Allowance {
 public:
  // Of one function; none: it has no limit.
  void add(std::optional<Bytes> bytes) { change(bytes, 1); }
  void remove(std::optional<Bytes> bytes) { change(bytes, -1); }
  // None: somebody has no limit.
  [[nodiscard]] std::optional<Bytes> most() const {
    const std::lock_guard lock(mutex_);
    return unlimited_ > 0 ? std::nullopt : std::optional(Bytes(sum_));
  }

 private:
  void change(std::optional<Bytes> bytes, std::int64_t times) {
    const std::lock_guard lock(mutex_);
    if (bytes)
      sum_ += bytes->count() * times;
    else
      unlimited_ += times;
  }

  mutable std::mutex mutex_;
  std::int64_t sum_ = 0, unlimited_ = 0;  // guarded by mutex_
};

}  // namespace sluice::engine::cuda
