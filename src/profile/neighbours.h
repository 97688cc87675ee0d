// Neighbours: which share of the other slices of its GPU is usually busy when a function runs there, for every number
// of slices that it runs on. Core state, fed by BatchFinished; planners believe times beside that share.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace sluice::profile {

class Neighbours {
 public:
  // REQUIRES: slices > 0, 0 ≤ share ≤ 1.
  void observe(std::uint16_t slices, double share) {
    const auto at = std::ranges::lower_bound(known_, slices, {}, &Of::slices);
    Of& of = at != known_.end() && at->slices == slices ? *at : *known_.insert(at, Of{.slices = slices});
    of.executions = std::min(of.executions + 1, kWindow);
    of.share += (share - of.share) / static_cast<double>(of.executions);
  }
  // 0 for a number of slices that it has not run on: planners try it, and learn then.
  [[nodiscard]] double share(std::uint16_t slices) const {
    const auto at = std::ranges::lower_bound(known_, slices, {}, &Of::slices);
    return at != known_.end() && at->slices == slices ? at->share : 0;
  }
  friend bool operator==(const Neighbours&, const Neighbours&) = default;
  void visit(auto& archive) { archive(known_); }

 private:
  // The mean of as many executions; from then on a new one weighs as much as one among so many.
  static constexpr std::uint64_t kWindow = 256;
  struct Of {
    std::uint16_t slices = 0;
    double share = 0;
    std::uint64_t executions = 0;
    friend bool operator==(const Of&, const Of&) = default;
    void visit(auto& archive) { archive(slices, share, executions); }
  };
  std::vector<Of> known_;  // by slices, ascending
};

}  // namespace sluice::profile
