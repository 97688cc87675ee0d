// Id<Tag>: a number that names one thing and cannot be mixed up with the number of another.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace sluice {

template <class Tag, class Rep = std::uint32_t>
class Id {
 public:
  using rep = Rep;
  constexpr Id() = default;  // none()
  constexpr explicit Id(Rep value) : value_(value) {}
  [[nodiscard]] static constexpr Id none() { return Id(); }
  [[nodiscard]] constexpr bool valid() const { return value_ != kNone; }
  [[nodiscard]] constexpr Rep value() const { return value_; }
  // The id as a position in a vector. REQUIRES: valid().
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  static constexpr Rep kNone = static_cast<Rep>(~Rep{0});
  Rep value_ = kNone;
};

}  // namespace sluice

template <class Tag, class Rep>
struct std::hash<sluice::Id<Tag, Rep>> {
  std::size_t operator()(sluice::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value()); }
};
