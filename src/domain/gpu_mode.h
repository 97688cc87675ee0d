// How a GPU is shared.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

enum class GpuMode : std::uint8_t {
  green,     // a slice is a group of SMs that nobody else has (green contexts)
  stream,    // a slice is a stream of its own; who computes is up to the GPU
  priority,  // the same, and batches on fewer slices go first
  none,      // a process for every function, among which the driver shares time
  mig,       // a slice is a MIG device; each is a GPU of its own
};
constexpr GpuMode last_of(GpuMode) {
  return GpuMode::mig;
}

inline constexpr std::array<std::string_view, 5> kGpuModes = {"green", "stream", "priority", "none", "mig"};

constexpr std::optional<GpuMode> gpu_mode_of(std::string_view name) {
  for (std::size_t i = 0; i < kGpuModes.size(); ++i) {
    if (kGpuModes[i] == name) return static_cast<GpuMode>(i);
  }
  return std::nullopt;
}

}  // namespace sluice
