#include "data/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace sluice::data {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Half, HasTheValuesOfTheStandard) {
  EXPECT_EQ(from_fp16(0x3c00), 1.0f);
  EXPECT_EQ(from_fp16(0xc000), -2.0f);
  EXPECT_EQ(from_fp16(0x7bff), 65504.0f);
  EXPECT_EQ(from_fp16(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(from_fp16(0x0400), std::ldexp(1.0f, -14));
  EXPECT_EQ(from_fp16(0xfc00), -kInfinity);
  EXPECT_TRUE(std::signbit(from_fp16(0x8000)));
  EXPECT_EQ(from_bf16(0x3f80), 1.0f);
}

TEST(Half, ReadsBackAsTheSameBits) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (std::isnan(from_fp16(half))) {
      EXPECT_TRUE(std::isnan(from_fp16(to_fp16(from_fp16(half)))));
    } else {
      ASSERT_EQ(to_fp16(from_fp16(half)), half);
    }
    if (std::isnan(from_bf16(half))) {
      EXPECT_TRUE(std::isnan(from_bf16(to_bf16(from_bf16(half)))));
    } else {
      ASSERT_EQ(to_bf16(from_bf16(half)), half);
    }
  }
}

// Between two neighbours: below the middle the lower one, above it the upper one, in the middle the even one.
TEST(Half, RoundsToTheNearestAndHalvesToEven) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = from_fp16(bits), high = from_fp16(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(to_fp16(middle), bits % 2 == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(to_fp16(std::nextafter(middle, 0.0f)), bits) << bits;
    ASSERT_EQ(to_fp16(std::nextafter(middle, kInfinity)), bits + 1) << bits;
  }
  EXPECT_EQ(to_fp16(65519.0f), 0x7bff);
  EXPECT_EQ(to_fp16(65520.0f), 0x7c00);
  EXPECT_EQ(to_fp16(-1e30f), 0xfc00);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
}

}  // namespace
}  // namespace sluice::data
