#include "gateway/body_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "gateway/exchange.h"

namespace sluice::gateway {

bool ByteBudget::take(std::size_t bytes) {
  const std::size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  if (before + bytes <= max_) return true;
  give_back(bytes);
  return false;
}

void BodyBuffer::Free::operator()(char* data) const {
  std::free(data);
}

BodyBuffer::Room BodyBuffer::room(std::size_t wanted) {
  static constexpr std::size_t kFirst = 64u << 10;
  if (size_ == capacity_ && !reserve(size_ + std::min(wanted, std::max(kFirst, size_)))) return {};
  return {.data = data_.get() + size_, .size = std::min(wanted, capacity_ - size_)};
}

bool BodyBuffer::append(std::string_view bytes) {
  const std::size_t needed = size_ + bytes.size();
  if (needed > capacity_ && !reserve(std::max(needed, 2 * capacity_))) return false;
  if (!bytes.empty()) std::memcpy(data_.get() + size_, bytes.data(), bytes.size());
  size_ = needed;
  return true;
}

void BodyBuffer::clear() {
  data_.reset();
  budget_.give_back(capacity_);
  size_ = capacity_ = 0;
}

void BodyBuffer::swap(BodyBuffer& other) {
  data_.swap(other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
}

// realloc moves large pieces by their pages instead of copying them.
bool BodyBuffer::reserve(std::size_t capacity) {
  const std::size_t more = capacity - capacity_;
  if (!budget_.take(more)) return false;
  auto* moved = static_cast<char*>(std::realloc(data_.get(), capacity + kBodyPadding));
  if (moved == nullptr) {
    budget_.give_back(more);
    return false;
  }
  static_cast<void>(data_.release());
  data_.reset(moved);
  std::memset(moved + capacity, 0, kBodyPadding);
  capacity_ = capacity;
  return true;
}

}  // namespace sluice::gateway
