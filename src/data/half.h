// Numbers of 16 bits, as tensors hold them, to and from float.
#pragma once
#include <cstdint>

namespace sluice::data {

// IEEE 754 half precision. To the nearest, halves to even; what is too large becomes infinite.
[[nodiscard]] float from_fp16(std::uint16_t bits);
[[nodiscard]] std::uint16_t to_fp16(float number);

// bfloat16: the upper half of a float.
[[nodiscard]] float from_bf16(std::uint16_t bits);
[[nodiscard]] std::uint16_t to_bf16(float number);

}  // namespace sluice::data
