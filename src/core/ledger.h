// Ledger: entries with numbers that only grow, added at the end and taken out by number. A request's invocations that
// wait and its batches that run are kept so: what is to be found of one request is found without looking at others.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/archive.h"
#include "base/check.h"

namespace sluice::core {

template <class T>
class Ledger {
 public:
  [[nodiscard]] std::size_t size() const { return entries_.size() - gone_; }
  // The number it was added with last counts once. REQUIRES: no larger number was added before.
  void add(std::uint64_t number, T value) {
    if (!entries_.empty() && entries_.back().number == number && !entries_.back().gone) return;
    CHECK(entries_.empty() || entries_.back().number < number);
    entries_.push_back({number, std::move(value), false});
  }
  // O(log n); entries that are gone are cleared away when they are the most. Nothing happens if it is not there.
  void remove(std::uint64_t number) {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), number,
                                     [](const Entry& e, std::uint64_t wanted) { return e.number < wanted; });
    if (it == entries_.end() || it->number != number || it->gone) return;
    it->gone = true;
    if (++gone_ * 2 <= entries_.size()) return;
    std::erase_if(entries_, [](const Entry& e) { return e.gone; });
    gone_ = 0;
  }
  void clear() {
    entries_.clear();
    gone_ = 0;
  }
  // Ascending. REQUIRES: `what(number, value)` does not change the ledger.
  template <class What>
  void for_each(const What& what) const {
    for (const Entry& entry : entries_) {
      if (!entry.gone) what(entry.number, entry.value);
    }
  }
  void visit(Archive& archive) { archive(entries_, gone_); }

 private:
  struct Entry {
    std::uint64_t number = 0;
    T value = {};
    bool gone = false;
    void visit(Archive& a) { a(number, value, gone); }
  };
  std::vector<Entry> entries_;
  std::size_t gone_ = 0;
};

}  // namespace sluice::core
