// Answered: the batches that were reported lately, so that a command that comes a second time is recognised however
// late it comes.
#pragma once
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "domain/ids.h"

namespace sluice::invoker {

class Answered {
 public:
  static constexpr std::size_t kKept = 4096;

  void add(BatchId batch) {
    if (!known_.insert(batch).second) return;
    if (order_.size() < kKept) {
      order_.push_back(batch);
      return;
    }
    known_.erase(order_[oldest_]);
    order_[oldest_] = batch;
    oldest_ = (oldest_ + 1) % kKept;
  }
  [[nodiscard]] bool contains(BatchId batch) const { return known_.contains(batch); }

 private:
  std::unordered_set<BatchId> known_;
  std::vector<BatchId> order_;
  std::size_t oldest_ = 0;
};

}  // namespace sluice::invoker
