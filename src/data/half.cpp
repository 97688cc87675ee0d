#include "data/half.h"

#include <bit>
#include <cmath>

namespace sluice::data {
namespace {

// `value` without its lowest `bits`, to the nearest, halves to even.
std::uint32_t shifted(std::uint32_t value, std::uint32_t bits) {
  const std::uint32_t rest = value & ((1u << bits) - 1), half = 1u << (bits - 1);
  const std::uint32_t kept = value >> bits;
  return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

}  // namespace

float from_fp16(std::uint16_t bits) {
  const std::uint32_t exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    const float small = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -small : small;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

std::uint16_t to_fp16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00);
  std::uint32_t half = 0x7c00;
  if (magnitude < 0x38800000) {  // below 2^-14: counted in steps of 2^-24, which is what adding 0.5 leaves
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  } else if (magnitude < 0x477ff000) {  // rounds to at most 65,504
    half = shifted(magnitude - (112u << 23), 13);
  }
  return static_cast<std::uint16_t>(sign | half);
}

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t to_bf16(float number) {
  if (std::isnan(number)) return 0x7fc0;
  return static_cast<std::uint16_t>(shifted(std::bit_cast<std::uint32_t>(number), 16));
}

}  // namespace sluice::data
