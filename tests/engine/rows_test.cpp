#include "engine/rows.h"

#include <gtest/gtest.h>

#include "engine/memory.h"

namespace sluice::engine {
namespace {

data::TensorView view(DataType type, std::vector<std::int64_t> shape, std::string& bytes) {
  return {{"x", type, std::move(shape)}, std::as_writable_bytes(std::span(bytes))};
}

TEST(Rows, AreEqualPartsWhereElementsAreOfOneSize) {
  std::string bytes = "aabbccddeeff";
  const auto rows = rows_of(view(DataType::uint16, {3, 2}, bytes), 3).value();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].info, (data::TensorInfo{"x", DataType::uint16, {2}}));
  EXPECT_EQ(test::text(rows[1].bytes), "ccdd");
}

TEST(Rows, OfTypeBytesAreAsLongAsTheirElements) {
  std::string bytes("\1\0\0\0a\0\0\0\0\3\0\0\0bcd\0\0\0\0", 20);
  const auto rows = rows_of(view(DataType::bytes, {2, 2}, bytes), 2).value();
  EXPECT_EQ(rows[0].bytes.size(), 9u);
  EXPECT_EQ(rows[1].bytes.size(), 11u);
  const auto elements = elements_of(rows[1]).value();
  ASSERT_EQ(elements.size(), 2u);
  EXPECT_EQ(test::text(elements[0]), "bcd");
  EXPECT_TRUE(elements[1].empty());
}

TEST(Rows, AreRefusedWhereTheBytesAreNotThere) {
  std::string bytes("\1\0\0\0a\xff\xff\xff\xff", 9);
  EXPECT_FALSE(rows_of(view(DataType::bytes, {2}, bytes), 2).ok());
  EXPECT_FALSE(elements_of(view(DataType::bytes, {2}, bytes)).ok());
  EXPECT_FALSE(elements_of(view(DataType::bytes, {1}, bytes)).ok());
  EXPECT_FALSE(rows_of(view(DataType::fp32, {3}, bytes), 3).ok());
}

}  // namespace
}  // namespace sluice::engine
