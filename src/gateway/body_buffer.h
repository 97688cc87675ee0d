// BodyBuffer: the body of one request while it comes in. Memory grows with what is there, not with what was announced,
// and is taken from a budget that all connections share.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>

namespace sluice::gateway {

// Bytes that all bodies together may take. Any thread.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes_max) : max_(bytes_max) {}
  [[nodiscard]] bool take(std::size_t bytes);
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t max() const { return max_; }

 private:
  std::size_t max_;
  std::atomic<std::size_t> used_ = 0;
};

class BodyBuffer {
 public:
  explicit BodyBuffer(ByteBudget& budget) : budget_(budget) {}
  ~BodyBuffer() { clear(); }
  BodyBuffer(const BodyBuffer&) = delete;
  BodyBuffer& operator=(const BodyBuffer&) = delete;

  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // Room for at least one more byte, at most `wanted`: where the next ones go. Empty: the budget is used up.
  struct Room {
    char* data = nullptr;
    std::size_t size = 0;
  };
  [[nodiscard]] Room room(std::size_t wanted);
  void grow_by(std::size_t bytes) { size_ += bytes; }  // that were written into the room
  // False: the budget is used up.
  [[nodiscard]] bool append(std::string_view bytes);
  void clear();
  // REQUIRES: both are of one budget.
  void swap(BodyBuffer& other);

 private:
  struct Free {
    void operator()(char* data) const;
  };
  [[nodiscard]] bool reserve(std::size_t capacity);

  ByteBudget& budget_;
  std::unique_ptr<char, Free> data_;
  std::size_t size_ = 0, capacity_ = 0;  // kBodyPadding bytes behind the capacity are there as well
};

}  // namespace sluice::gateway
