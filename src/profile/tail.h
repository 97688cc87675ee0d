// Tail: how often an execution takes a multiple of what was expected, and what multiple. Medians (learner.h) ignore
// such stragglers, and a normal law does not have them; a planner that knows of them keeps time for one. Core state
// like the learner: a plain value.
//
// Executions are looked at in groups: where more than a few of a group are late the function has become slower, which
// is the learner's to find out, and nothing is learned here.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sluice::profile {

struct Stragglers {
  double share = 0;  // of executions
  double times = 1;  // what was expected
  friend bool operator==(const Stragglers&, const Stragglers&) = default;
  void visit(auto& archive) { archive(share, times); }
};

class Tail {
 public:
  // One execution. `relative_sd`: of times that are no stragglers. REQUIRES: expected_ms > 0.
  void observe(double expected_ms, double relative_sd, double measured_ms) {
    const double times = measured_ms / expected_ms;
    const bool straggles =
        times > std::max(kLeastTimes, 1 + kFar * relative_sd) && measured_ms - expected_ms > kLeastMs;
    if (straggles) {
      ++late_;
      late_times_ += std::min(times, kMostTimes);
    }
    if (++seen_ < kGroup) return;
    if (late_ <= kFew) {
      runs_ = runs_ * kKeep + kGroup;
      stragglers_ = stragglers_ * kKeep + late_;
      times_ = times_ * kKeep + late_times_;
    }
    seen_ = late_ = 0;
    late_times_ = 0;
  }

  // Nothing until a few were seen.
  [[nodiscard]] Stragglers stragglers() const {
    if (stragglers_ < kBelieved) return {};
    return {stragglers_ / (runs_ + kDoubt), times_ / stragglers_};
  }

  // Whether plans made for `published` are off by enough to matter.
  [[nodiscard]] bool changed_since(const Stragglers& published) const {
    const Stragglers now = stragglers();
    if (std::abs(now.share - published.share) > std::max(kLeastShare, kTolerance * published.share)) return true;
    const bool both = now.share > 0 && published.share > 0;
    return both && std::abs(now.times - published.times) > kTolerance * published.times;
  }

  void visit(auto& archive) { archive(seen_, late_, late_times_, runs_, stragglers_, times_); }
  friend bool operator==(const Tail&, const Tail&) = default;

 private:
  static constexpr double kLeastTimes = 1.5;  // the least multiple that counts
  static constexpr double kFar = 4;           // and the least distance, in standard deviations
  static constexpr double kLeastMs = 0.5;     // less decides nothing
  static constexpr double kMostTimes = 20;    // one that hangs does not stand for all
  static constexpr std::uint32_t kGroup = 16, kFew = 4;
  static constexpr double kKeep = 1 - kGroup / 2048.0;  // of what is known, a group: the last 2,000 executions count
  static constexpr double kBelieved = 2.5;              // stragglers, the first of them faded
  static constexpr double kDoubt = 64;                  // executions without any that are taken to have been before
  static constexpr double kLeastShare = 0.003;
  static constexpr double kTolerance = 0.25;

  std::uint32_t seen_ = 0, late_ = 0;  // of the group
  double late_times_ = 0;
  double runs_ = 0, stragglers_ = 0, times_ = 0;  // of all groups, each fading
};

}  // namespace sluice::profile
