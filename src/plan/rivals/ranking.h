// Ranking: the K cheapest entries offered so far, on request only the best of each first pick. A search keeps its
// bound and its results in one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/money.h"

namespace sluice::plan {

class Ranking {
 public:
  struct Entry {
    Dollars cost = 0;
    double ms = 0;
    std::uint32_t parent = 0, pick = 0;  // the path: a prefix and its extension
    std::uint32_t first = 0;             // the path's pick at the first stage
  };
  // Forgets everything. REQUIRES: k ≥ 1.
  void reset(std::size_t k, bool distinct_first);
  // Entries are ranked by cost, then ms, then in the order offered.
  void offer(const Entry& entry) {
    if (entries_.size() < k_ || before(entry, entries_.back())) insert(entry);
  }
  // The K-th smallest cost, infinite as long as there are fewer entries.
  [[nodiscard]] Dollars kth_cost() const {
    return entries_.size() < k_ ? std::numeric_limits<Dollars>::infinity() : entries_.back().cost;
  }
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }  // best first

 private:
  static bool before(const Entry& a, const Entry& b) { return a.cost < b.cost || (a.cost == b.cost && a.ms < b.ms); }
  void insert(const Entry& entry);

  std::size_t k_ = 1;
  bool distinct_first_ = false;
  std::vector<Entry> entries_;  // few, so a sorted array beats a heap
};

}  // namespace sluice::plan
