// How a GPU is shared by the batches of one worker.
#pragma once
#include <cstdint>

namespace sluice {

enum class GpuMode : std::uint8_t {
  green,   // a slice is a group of SMs that nobody else has (green contexts)
  stream,  // a slice is a stream of its own; who computes is up to the GPU
};
constexpr GpuMode last_of(GpuMode) {
  return GpuMode::stream;
}

}  // namespace sluice
