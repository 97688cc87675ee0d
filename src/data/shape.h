// Shape: the lengths of a tensor's dimensions. Several are made and copied for every request, and few have more than
// four: those take no memory of their own.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace sluice::data {

class Shape {
 public:
  using value_type = std::int64_t;
  using iterator = std::int64_t*;
  using const_iterator = const std::int64_t*;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> lengths) { assign(std::span(lengths.begin(), lengths.size())); }
  Shape(const std::vector<std::int64_t>& lengths) { assign(lengths); }
  explicit Shape(std::span<const std::int64_t> lengths) { assign(lengths); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::int64_t* data() { return size_ <= kFew ? few_.data() : many_.data(); }
  [[nodiscard]] const std::int64_t* data() const { return size_ <= kFew ? few_.data() : many_.data(); }
  [[nodiscard]] std::int64_t* begin() { return data(); }
  [[nodiscard]] std::int64_t* end() { return data() + size_; }
  [[nodiscard]] const std::int64_t* begin() const { return data(); }
  [[nodiscard]] const std::int64_t* end() const { return data() + size_; }
  [[nodiscard]] std::int64_t& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] std::int64_t& front() { return *data(); }
  [[nodiscard]] std::int64_t front() const { return *data(); }

  void clear() {
    size_ = 0;
    many_.clear();
  }
  void push_back(std::int64_t length) {
    if (size_ == kFew) many_.assign(few_.begin(), few_.end());
    if (size_ < kFew)
      few_[size_] = length;
    else
      many_.push_back(length);
    ++size_;
  }
  void push_front(std::int64_t length) {
    push_back(length);
    std::rotate(begin(), end() - 1, end());
  }
  // REQUIRES: it is not empty.
  void pop_front() {
    std::rotate(begin(), begin() + 1, end());
    if (size_ > kFew) many_.pop_back();
    if (--size_ != kFew) return;
    std::copy(many_.begin(), many_.end(), few_.begin());
    many_.clear();
  }

  friend bool operator==(const Shape& a, const Shape& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }
  // As a vector of them.
  void visit(auto& archive) {
    const std::size_t size = archive.length(size_);
    if (!archive.is_loading()) {
      for (std::int64_t& length : *this) archive(length);
      return;
    }
    clear();
    for (std::int64_t length = 0; size_ < size && archive.ok(); push_back(length)) archive(length);
  }

 private:
  static constexpr std::size_t kFew = 4;
  void assign(std::span<const std::int64_t> lengths) {
    size_ = lengths.size();
    if (size_ <= kFew)
      std::copy(lengths.begin(), lengths.end(), few_.begin());
    else
      many_.assign(lengths.begin(), lengths.end());
  }
  std::size_t size_ = 0;
  std::array<std::int64_t, kFew> few_{};
  std::vector<std::int64_t> many_;  // all of them, where there are more than a few
};

}  // namespace sluice::data
