// Neighbours: which share of the other slices of its GPU is busy when a function runs there, on average of the latest
// executions. Core state, fed by BatchFinished.
#pragma once
#include <algorithm>
#include <cstdint>

namespace sluice::profile {

class Neighbours {
 public:
  // As many executions weigh as one; the first ones weigh all the same.
  static constexpr std::uint64_t kWindow = 64;

  // REQUIRES: 0 ≤ share ≤ 1.
  void observe(double share) {
    seen_ = std::min(seen_ + 1, kWindow);
    share_ += (share - share_) / static_cast<double>(seen_);
  }
  [[nodiscard]] double share() const { return share_; }
  friend bool operator==(const Neighbours&, const Neighbours&) = default;
  void visit(auto& archive) { archive(share_, seen_); }

 private:
  double share_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace sluice::profile
