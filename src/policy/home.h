// The home invoker of a function and the order in which others are probed, as in OpenWhisk: a hash chooses the first
// and a step that is coprime to the number of invokers, so that every one is reached.
#pragma once
#include <cstdint>
#include <numeric>
#include <string_view>

#include "base/hash.h"

namespace sluice::policy {

class HomeOrder {
 public:
  HomeOrder(std::string_view tenant, std::string_view function, std::uint32_t invokers) : invokers_(invokers) {
    Hash a, b;
    a.add(tenant);
    b.add(function);
    const std::uint64_t h = a.value() ^ b.value();
    first_ = static_cast<std::uint32_t>(h % invokers);
    // Steps are the numbers below N that share no factor with it, counted by the hash.
    std::uint32_t count = 0;
    for (std::uint32_t s = 1; s <= invokers; ++s) count += std::gcd(s, invokers) == 1 ? 1 : 0;
    std::uint32_t skip = static_cast<std::uint32_t>(h % count);
    for (step_ = 1;; ++step_) {
      if (std::gcd(step_, invokers) == 1 && skip-- == 0) break;
    }
  }
  [[nodiscard]] std::uint32_t invokers() const { return invokers_; }
  // The i-th invoker to try. REQUIRES: i < number of invokers.
  [[nodiscard]] std::uint32_t operator[](std::uint32_t i) const {
    return static_cast<std::uint32_t>((first_ + std::uint64_t{i} * step_) % invokers_);
  }

 private:
  std::uint32_t invokers_, first_ = 0, step_ = 1;
};

}  // namespace sluice::policy
