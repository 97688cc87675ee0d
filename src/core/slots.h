// Slots: values in one block of memory that are taken and given back, so that millions of requests need no allocation
// each. A slot keeps its value when it is given back (vectors keep their capacity); `used` of the value says whether it
// is taken.
#pragma once
#include <cstdint>
#include <vector>

#include "base/archive.h"

namespace sluice::core {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

template <class T>
class Slots {
 public:
  [[nodiscard]] Slot take() {
    Slot slot = static_cast<Slot>(values_.size());
    if (free_.empty()) {
      values_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    values_[slot].used = true;
    return slot;
  }
  void give_back(Slot slot) {
    values_[slot].used = false;
    free_.push_back(slot);
  }
  [[nodiscard]] T& operator[](Slot slot) { return values_[slot]; }
  [[nodiscard]] const T& operator[](Slot slot) const { return values_[slot]; }
  [[nodiscard]] Slot size() const { return static_cast<Slot>(values_.size()); }  // of all slots, taken or not
  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }
  void visit(Archive& archive) { archive(values_, free_); }

 private:
  std::vector<T> values_;
  std::vector<Slot> free_;
};

}  // namespace sluice::core
