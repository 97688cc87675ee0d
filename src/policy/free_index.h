// FreeIndex: the usable invokers by how many slices they have free, so that placement looks at a few machines instead
// of at all of them. Derived from the books, which keep it up to date.
#pragma once
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/check.h"

namespace sluice::policy {

class FreeIndex {
 public:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

  // `free` slices, or kAbsent: not usable.
  void set(std::uint32_t invoker, std::uint32_t free) {
    if (invoker >= at_.size()) at_.resize(invoker + 1, kAbsent);
    if (at_[invoker] == free) return;
    if (at_[invoker] != kAbsent) flip(buckets_[at_[invoker]], invoker, false);
    at_[invoker] = free;
    if (free == kAbsent) return;
    if (free >= buckets_.size()) buckets_.resize(free + 1);
    flip(buckets_[free], invoker, true);
  }

  // The first invoker in ascending order of (free, id), from `least` free slices on, that `fits`.
  template <class Fits>
  [[nodiscard]] std::optional<std::uint32_t> fullest(std::uint32_t least, const Fits& fits) const {
    for (std::size_t free = least; free < buckets_.size(); ++free) {
      if (const auto found = first(buckets_[free], fits)) return found;
    }
    return std::nullopt;
  }
  // Likewise with the most free slices first; equal ones by id.
  template <class Fits>
  [[nodiscard]] std::optional<std::uint32_t> emptiest(std::uint32_t least, const Fits& fits) const {
    for (std::size_t free = buckets_.size(); free-- > least;) {
      if (const auto found = first(buckets_[free], fits)) return found;
    }
    return std::nullopt;
  }

 private:
  struct Bucket {
    std::uint32_t count = 0;
    std::vector<std::uint64_t> members;  // a bit each
  };
  static void flip(Bucket& bucket, std::uint32_t invoker, bool in) {
    const std::size_t word = invoker / 64;
    if (word >= bucket.members.size()) bucket.members.resize(word + 1);
    bucket.members[word] ^= std::uint64_t{1} << (invoker % 64);
    bucket.count += in ? 1 : -1u;
  }
  template <class Fits>
  [[nodiscard]] static std::optional<std::uint32_t> first(const Bucket& bucket, const Fits& fits) {
    if (bucket.count == 0) return std::nullopt;
    for (std::size_t word = 0; word < bucket.members.size(); ++word) {
      for (std::uint64_t left = bucket.members[word]; left != 0; left &= left - 1) {
        const auto invoker = static_cast<std::uint32_t>(word * 64 + static_cast<unsigned>(std::countr_zero(left)));
        if (fits(invoker)) return invoker;
      }
    }
    return std::nullopt;
  }

  std::vector<std::uint32_t> at_;  // by invoker
  std::vector<Bucket> buckets_;    // by free slices
};

}  // namespace sluice::policy
