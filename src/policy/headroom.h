// Headroom: how much of what may be promised is promised (sluice_admission.cpp). Work that is believed rightly may
// still come too late: with little slack every queue is one too many, however much is free on average. So requests that
// were let in and waited themselves late make it less, those in time a little more. State of the policy, one for each
// pool of machines.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/archive.h"
#include "base/time.h"

namespace sluice::policy {

class Headroom {
 public:
  [[nodiscard]] double share() const { return share_; }

  // A request that was let in at `arrival` has ended: `crowded` if it would have been in time without waiting for room.
  // In balance with `tolerated` of them being so.
  void ended(Time arrival, Time now, bool crowded, double tolerated) {
    if (!crowded) {
      share_ = std::min(1.0, share_ + kDown * tolerated);
      return;
    }
    if (arrival >= until_) {
      until_ = now;
      cut_ = 0;
    }
    const double step = std::min(kDown, kMost - cut_);
    if (step <= 0) return;
    cut_ += step;
    share_ = std::max(kLeast, share_ * (1 - step));
  }

  void visit(Archive& archive) { archive(share_, until_, cut_); }

 private:
  // No more than kMost for those that were let in before the first of them was seen: what is let in since may be in
  // time already.
  static constexpr double kDown = 0.08, kMost = 0.3, kLeast = 0.3;

  double share_ = 1;
  Time until_;      // when the first one was seen of those that arrived since the one before
  double cut_ = 0;  // since then
};

}  // namespace sluice::policy
