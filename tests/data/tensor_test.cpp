#include "data/tensor.h"

#include <gtest/gtest.h>

namespace sluice::data {
namespace {

bool fits(DataType type, std::vector<std::int64_t> shape, const std::string& bytes) {
  return well_formed({"x", type, std::move(shape)}, std::as_bytes(std::span(bytes)));
}

TEST(Tensor, HasTheBytesOfItsShape) {
  EXPECT_EQ(byte_size(DataType::fp32, std::vector<std::int64_t>{2, 3}), 24u);
  EXPECT_EQ(byte_size(DataType::fp64, {}), 8u);
  EXPECT_EQ(byte_size(DataType::uint8, std::vector<std::int64_t>{5, 0}), 0u);
  EXPECT_TRUE(fits(DataType::int16, {3}, "123456"));
  EXPECT_FALSE(fits(DataType::int16, {3}, "12345"));
  EXPECT_FALSE(fits(DataType::int16, {3}, "1234567"));
}

TEST(Tensor, HasNoShapeThatIsNegativeOrTooLarge) {
  EXPECT_EQ(element_count(std::vector<std::int64_t>{2, -1}), std::nullopt);
  EXPECT_EQ(element_count(std::vector<std::int64_t>{1ll << 33, 1ll << 33}), std::nullopt);
  EXPECT_EQ(byte_size(DataType::fp64, std::vector<std::int64_t>{1ll << 61}), std::nullopt);
  EXPECT_FALSE(fits(DataType::fp64, {1ll << 61}, ""));
}

TEST(Tensor, OfTypeBytesIsWalked) {
  const std::string two("\2\0\0\0hi\0\0\0\0", 10);
  EXPECT_TRUE(fits(DataType::bytes, {2}, two));
  EXPECT_TRUE(fits(DataType::bytes, {1, 2}, two));
  EXPECT_FALSE(fits(DataType::bytes, {1}, two));
  EXPECT_FALSE(fits(DataType::bytes, {3}, two));
  EXPECT_FALSE(fits(DataType::bytes, {2}, two.substr(0, 9)));
  EXPECT_FALSE(fits(DataType::bytes, {1}, std::string("\xff\xff\xff\xff", 4)));
  EXPECT_FALSE(fits(DataType::bytes, {1ll << 40}, two));
}

}  // namespace
}  // namespace sluice::data
