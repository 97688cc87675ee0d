// Ring: a queue in one block of memory that grows by doubling and is reused; no allocation once it is large enough.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "base/check.h"

namespace sluice::policy {

template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }

  [[nodiscard]] T& edit(std::size_t i) { return at(i); }

  void push_back(T value) {
    if (size_ == slots_.size()) grow();
    slots_[(head_ + size_) & (slots_.size() - 1)] = std::move(value);
    ++size_;
  }
  void pop_front() {
    CHECK(size_ > 0);
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
  }
  // Keeps the order of the others; moves those on the shorter side.
  void erase(std::size_t i) {
    CHECK(i < size_);
    if (i < size_ / 2) {
      for (; i > 0; --i) at(i) = std::move(at(i - 1));
      return pop_front();
    }
    for (; i + 1 < size_; ++i) at(i) = std::move(at(i + 1));
    --size_;
  }
  // Likewise, all for which `gone(value)`. O(size).
  template <class Gone>
  void erase_if(const Gone& gone) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (gone(at(i))) continue;
      if (kept != i) at(kept) = std::move(at(i));
      ++kept;
    }
    size_ = kept;
  }
  // Puts one where `before(existing)` no longer holds, seen from the back: lists that are nearly sorted stay sorted.
  template <class Before>
  void insert_sorted(T value, const Before& before) {
    push_back(std::move(value));
    for (std::size_t i = size_ - 1; i > 0 && !before(at(i - 1)); --i) std::swap(at(i), at(i - 1));
  }

  void visit(Archive& archive) {
    std::vector<T> list;
    for (std::size_t i = 0; i < size_; ++i) list.push_back((*this)[i]);
    archive(list);
    if (!archive.is_loading()) return;
    *this = Ring();
    for (T& value : list) push_back(std::move(value));
  }

 private:
  T& at(std::size_t i) { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  void grow() {
    std::vector<T> larger(slots_.empty() ? 8 : slots_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(at(i));
    slots_ = std::move(larger);
    head_ = 0;
  }
  std::vector<T> slots_;  // a power of two
  std::size_t head_ = 0, size_ = 0;
};

}  // namespace sluice::policy
