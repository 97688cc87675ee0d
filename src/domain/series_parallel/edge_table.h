// EdgeTable: the last edge entered between two junctions. A flat hash table, because a network of 50,000 stages looks
// up some 500,000 pairs; it is only looked up, never iterated by what decides.
#pragma once
#include <cstdint>
#include <vector>

namespace sluice::reduction {

class EdgeTable {
 public:
  static constexpr std::uint32_t kNoEdge = ~std::uint32_t{0};

  explicit EdgeTable(std::size_t expected) {
    std::size_t size = 16;
    while (size < 2 * expected) size *= 2;
    slots_.resize(size);
  }

  // Where the edge from `tail` to `head` is entered; kNoEdge if none is yet. Valid until the next call.
  [[nodiscard]] std::uint32_t& at(std::uint32_t tail, std::uint32_t head) {
    if (2 * used_ >= slots_.size()) grow();
    Slot& slot = find(tail, head);
    if (slot.tail == kNoEdge) {
      slot = {.tail = tail, .head = head};
      ++used_;
    }
    return slot.edge;
  }

 private:
  struct Slot {
    std::uint32_t tail = kNoEdge, head = 0, edge = kNoEdge;
  };

  [[nodiscard]] Slot& find(std::uint32_t tail, std::uint32_t head) {
    const std::uint64_t mixed = ((std::uint64_t{tail} << 32) | head) * 0x9E3779B97F4A7C15u;
    std::size_t i = static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
    while (slots_[i].tail != kNoEdge && (slots_[i].tail != tail || slots_[i].head != head)) {
      i = (i + 1) & (slots_.size() - 1);
    }
    return slots_[i];
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.tail != kNoEdge) find(slot.tail, slot.head) = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace sluice::reduction
