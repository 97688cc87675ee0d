#include "data/tensor.h"

#include <gtest/gtest.h>

#include <cstring>

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

Tensor texts(const std::string& bytes, std::vector<std::int64_t> shape) {
  static const auto arena = Arena::make(Bytes::mb(8)).value();
  Tensor out{
      .info = {"x", DataType::bytes, std::move(shape)}, .block = *arena->allocate(bytes.size() + 3), .offset = 3};
  out.size = bytes.size();
  if (!bytes.empty()) std::memcpy(out.bytes().data(), bytes.data(), bytes.size());
  return out;
}

std::string said(const Tensor& tensor) {
  std::string out;
  const auto texts = texts_of(tensor);
  if (!texts) return "?";
  for (const auto text : *texts) out += std::string(reinterpret_cast<const char*>(text.data()), text.size()) + ",";
  return out;
}

TEST(Tensor, FindsTextsByItsIndexWhateverTheirLengthsSayLater) {
  Tensor tensor = texts(std::string("\2\0\0\0hi\0\0\0\0\1\0\0\0x\1\0\0\0y", 20), {2, 2});
  ASSERT_TRUE(index_texts(tensor, tensor.bytes()));
  std::memset(tensor.bytes().data(), 0xff, 4);
  std::memset(tensor.bytes().data() + 10, 0xff, 4);
  EXPECT_EQ(said(tensor), "hi,,x,y,");
  const auto row = row_of(tensor, 1);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->info.shape, std::vector<std::int64_t>{2});
  EXPECT_EQ(said(*row), "x,y,");
  EXPECT_EQ(said(*row_of(*row, 1)), "y,");
  EXPECT_EQ(row->texts.begins, tensor.texts.begins);  // nothing was walked again
  EXPECT_FALSE(row_of(tensor, 2).has_value());
}

TEST(Tensor, BroughtIntoAnotherArenaFindsTextsByTheLengthsThatWereReadFirst) {
  const auto other = Arena::make(Bytes::mb(1)).value();
  Tensor tensor = texts(std::string("\2\0\0\0hi\1\0\0\0x", 11), {2});
  ASSERT_TRUE(index_texts(tensor, tensor.bytes()));
  std::memset(tensor.bytes().data(), 0xff, 4);
  const auto brought = brought_into(*other, {tensor});
  ASSERT_TRUE(brought.has_value());
  EXPECT_TRUE(brought->at(0).block.is_in(*other));
  EXPECT_EQ(said(brought->at(0)), "hi,x,");
}

TEST(Tensor, WithoutAnIndexIsWalkedWithinItsBytes) {
  const Tensor wrong = texts(std::string("\2\0\0\0hi\xff\0\0\0", 10), {2});
  EXPECT_EQ(said(wrong), "?");
  EXPECT_FALSE(row_of(wrong, 0).has_value());
  EXPECT_EQ(said(*row_of(texts(std::string("\2\0\0\0hi\0\0\0\0", 10), {2}), 0)), "hi,");
}

}  // namespace
}  // namespace sluice::data
