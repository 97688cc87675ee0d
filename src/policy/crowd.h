// Crowd: whether more requests of an application come while so many of it are unanswered. A rate alone does not say:
// clients that ask again when they are answered have one as well, but while all of them wait nobody else can come. So
// arrivals are counted by how many were unanswered. No evidence, no wait. State of the policy, one for each
// application.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/archive.h"
#include "base/time.h"

namespace sluice::policy {

class Crowd {
 public:
  void came(Time now) {
    end_stay(now, true);
    ++inside_;
  }
  // Answered, refused later or given up.
  void left(Time now) {
    end_stay(now, false);
    if (inside_ > 0) --inside_;
  }

  // Arrivals per ms while as many were unanswered as now, over the last kStays times that so many were. 0 without
  // evidence: for a dozen times that ended by an answer.
  [[nodiscard]] double rate() const {
    const std::uint32_t i = slot();
    if (i >= stays_.size() || stays_[i].arrivals < kEvidence) return 0;
    return stays_[i].arrivals / std::max(stays_[i].ms, 1e-3);
  }

  void visit(Archive& archive) { archive(stays_, inside_, since_); }

 private:
  static constexpr std::uint32_t kCountMax = 64;  // more are counted together
  static constexpr double kStays = 16, kEvidence = 0.5;

  // Sums over the last stays, each fading with those that follow.
  struct Stays {
    double arrivals = 0, ms = 0;
    void visit(Archive& archive) { archive(arrivals, ms); }
  };

  [[nodiscard]] std::uint32_t slot() const { return std::min(inside_, kCountMax); }

  void end_stay(Time now, bool by_arrival) {
    // The answers of one batch come together: what is left in between was no stay.
    if (by_arrival || now > since_) {
      if (stays_.size() <= slot()) stays_.resize(slot() + 1);
      Stays& stay = stays_[slot()];
      stay.arrivals = stay.arrivals * (1 - 1 / kStays) + (by_arrival ? 1 : 0);
      stay.ms = stay.ms * (1 - 1 / kStays) + (now - since_).to_ms();
    }
    since_ = now;
  }

  std::vector<Stays> stays_;  // by how many are unanswered
  std::uint32_t inside_ = 0;
  Time since_;
};

}  // namespace sluice::policy
