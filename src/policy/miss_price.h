// What being late costs. Without a percentile: a multiple of the application's own cheapest plan, so that as many
// requests as possible are met. With one the price is found: every end of an accepted request moves a balance, and the
// balance selects one of a few prices, the fixed one and cheaper ones. As long as the balance is within its bounds, the
// share of late requests is the one that was asked for, whatever prices do. Giving up keeps the fixed price, or
// percentile 50 would mean to give up half of the requests. State of the policy, one for each application.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/archive.h"

namespace sluice::policy {

class MissPrice {
 public:
  static constexpr std::uint32_t kLevels = 6;
  static constexpr double kStep = 3;  // each level's price is a third of the one before

  // A request of an application with a percentile (per cent) has ended.
  void ended(bool late, double percentile) {
    const double wanted = aim(percentile) / 100;
    balance_ = std::clamp(balance_ + (late ? wanted : wanted - 1), 0.0, kMost + kDebt);
    if (held_ > 0) --held_;
  }
  // 0: the fixed price.
  [[nodiscard]] std::uint32_t level() const {
    if (held_ > 0 || balance_ >= kMost) return 0;
    return std::min(kLevels - 1, static_cast<std::uint32_t>((kMost - balance_) / kWidth));
  }
  // Requests are refused: machines that are full are no place to save on. The balance stays, so that the share is made
  // up for afterwards.
  void refused() { held_ = kHeld; }

  void visit(Archive& archive) { archive(balance_, held_); }

  // What is aimed at so that the share of hits is within [percentile, percentile + 2].
  [[nodiscard]] static double aim(double percentile) { return percentile + std::min(0.5, (100 - percentile) / 2); }

 private:
  // Late requests a level: more than are under way while one learns that a price was too low.
  static constexpr double kWidth = 5;
  static constexpr double kMost = kWidth * kLevels;
  static constexpr double kDebt = 60;         // late requests beyond the dearest price that are made up for
  double balance_ = kMost;                    // begins with the dearest
  static constexpr std::uint32_t kHeld = 10;  // ended requests at the fixed price after one was refused
  std::uint32_t held_ = 0;                    // of them left
};

}  // namespace sluice::policy
