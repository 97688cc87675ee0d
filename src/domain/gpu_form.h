// The form in which a network computes on a GPU. What is fastest depends on the network; `best` is measured.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

enum class Precision : std::uint8_t { best, fp32, fp16, bf16 };
constexpr Precision last_of(Precision) {
  return Precision::bf16;
}

enum class MemoryLayout : std::uint8_t { best, channels_first, channels_last };
constexpr MemoryLayout last_of(MemoryLayout) {
  return MemoryLayout::channels_last;
}

inline constexpr std::array<std::string_view, 4> kPrecisions = {"best", "fp32", "fp16", "bf16"};
inline constexpr std::array<std::string_view, 3> kMemoryLayouts = {"best", "channels_first", "channels_last"};
constexpr std::string_view name_of(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}
constexpr std::string_view name_of(MemoryLayout layout) {
  return kMemoryLayouts[static_cast<std::size_t>(layout)];
}

struct GpuForm {
  Precision precision = Precision::best;
  MemoryLayout layout = MemoryLayout::best;
  bool rows_apart = false;  // a batch runs row by row: its rows would influence each other
  bool checked = false;     // that was looked at, by who measured the form; nobody has where a document gives it
  [[nodiscard]] bool known() const { return precision != Precision::best && layout != MemoryLayout::best; }
  // Whether it is one that somebody who wants `wanted` may be given.
  [[nodiscard]] bool agrees_with(const GpuForm& wanted) const {
    return (wanted.precision == Precision::best || wanted.precision == precision) &&
           (wanted.layout == MemoryLayout::best || wanted.layout == layout);
  }
  friend bool operator==(const GpuForm&, const GpuForm&) = default;
  void visit(auto& archive) { archive(precision, layout, rows_apart, checked); }
};

}  // namespace sluice
