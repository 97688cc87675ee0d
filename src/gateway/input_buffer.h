// InputBuffer: bytes that came from a socket and were not used yet, in one piece. Grows only when there is no read
// under way into it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "gateway/exchange.h"

namespace sluice::gateway {

class InputBuffer {
 public:
  [[nodiscard]] std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] char* free_data() { return data_.get() + end_; }
  [[nodiscard]] std::size_t free_size() const { return capacity_ - end_; }
  void commit(std::size_t bytes) { end_ += bytes; }
  void consume(std::size_t bytes) { begin_ += bytes; }

  // Makes room for `total` bytes in all, at least a first kilobytes. REQUIRES: no read into it is under way.
  void prepare(std::size_t total) {
    static constexpr std::size_t kFirst = 4096;
    if (begin_ == end_) begin_ = end_ = 0;
    const std::size_t wanted = std::max(total, kFirst);
    const bool fits = capacity_ >= wanted && (size() > 0 || capacity_ <= 2 * wanted);
    if (fits && capacity_ - begin_ >= wanted) return;
    if (fits) return move_to_front(data_.get());
    auto larger = std::make_unique_for_overwrite<char[]>(wanted + kBodyPadding);
    std::memset(larger.get() + wanted, 0, kBodyPadding);
    move_to_front(larger.get());
    data_ = std::move(larger);
    capacity_ = wanted;
  }

 private:
  void move_to_front(char* target) {
    if (size() > 0) std::memmove(target, data_.get() + begin_, size());
    end_ -= begin_;
    begin_ = 0;
  }
  std::unique_ptr<char[]> data_;
  std::size_t begin_ = 0, end_ = 0, capacity_ = 0;  // kBodyPadding bytes behind the capacity are there as well
};

}  // namespace sluice::gateway
