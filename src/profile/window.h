// Window<N>: the latest N numbers, also kept sorted, so that asking for their middle costs nothing. What the learner's
// estimates are made of.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace sluice::profile {

template <std::size_t N>
class Window {
 public:
  static_assert(N > 4 && N < 256, "pushing moves every value; for long windows another structure is better");

  // Forgets the oldest once N are held. REQUIRES: not NaN.
  void push(double value) {
    const auto end = sorted_.begin() + count_;
    auto place = std::upper_bound(sorted_.begin(), end, value);
    if (count_ < N) {
      std::copy_backward(place, end, end + 1);
      recent_[count_++] = value;
    } else {
      const auto oldest = std::lower_bound(sorted_.begin(), end, recent_.front());
      if (oldest < place) {
        std::copy(oldest + 1, place--, oldest);
      } else {
        std::copy_backward(place, oldest, oldest + 1);
      }
      std::copy(recent_.begin() + 1, recent_.end(), recent_.begin());
      recent_.back() = value;
    }
    *place = value;
  }

  // `believed`, moved no further than into the middle of the window: the median of the values and of `votes` more that
  // say `believed` (of two middle ones the further). So more than `votes` values are needed to move it, and a few
  // outliers never do.
  [[nodiscard]] double adjust(double believed, std::size_t votes) const {
    if (count_ <= votes) return believed;
    const std::size_t low = (count_ - votes) / 2;
    return std::clamp(believed, sorted_[low], sorted_[count_ - 1 - low]);
  }

  [[nodiscard]] std::span<const double> recent() const { return {recent_.data(), count_}; }  // oldest first

  [[nodiscard]] std::span<const double> sorted() const { return {sorted_.data(), count_}; }

  friend bool operator==(const Window&, const Window&) = default;

 private:
  std::array<double, N> recent_{}, sorted_{};
  std::uint32_t count_ = 0;
};

}  // namespace sluice::profile
