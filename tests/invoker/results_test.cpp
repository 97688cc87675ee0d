#include "invoker/results.h"

#include <gtest/gtest.h>

#include <cstring>

namespace sluice::invoker {
namespace {

class ResultsTest : public testing::Test {
 protected:
  [[nodiscard]] wire::Ran ran(const data::TensorInfo& info, std::uint64_t offset, std::uint64_t size,
                              std::int32_t row = wire::kAllRows) const {
    return {.outputs = {{.info = info, .row = row, .offset = space_.offset() + offset, .size = size}}};
  }
  std::shared_ptr<data::Arena> arena_ = std::move(data::Arena::make(Bytes(4096)).value());
  data::Block space_ = *arena_->allocate(256);
  Function function_{.name = "f"};
};

TEST_F(ResultsTest, SplitsStackedNumbersIntoRows) {
  const auto rows = results_of(ran({"y", DataType::fp32, {2, 3}}, 0, 24), 2, space_, function_);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[1].outputs.at(0).offset, 12u);
  EXPECT_EQ((*rows)[1].outputs.at(0).info.shape, std::vector<std::int64_t>{3});
}

TEST_F(ResultsTest, SplitsStackedTextsByTheirLengths) {
  std::size_t at = 0;
  for (const std::string text : {"a", "long text"}) {
    const auto length = static_cast<std::uint32_t>(text.size());
    std::memcpy(space_.data() + at, &length, sizeof length);
    std::memcpy(space_.data() + at + sizeof length, text.data(), text.size());
    at += sizeof length + text.size();
  }
  const auto rows = results_of(ran({"y", DataType::bytes, {2, 1}}, 0, at), 2, space_, function_);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[0].outputs.at(0).size, 5u);
  EXPECT_EQ((*rows)[1].outputs.at(0).size, 13u);
  EXPECT_TRUE(data::well_formed((*rows)[1].outputs[0].info, (*rows)[1].outputs[0].bytes()));
}

// The worker can write its space as long as it lives: what was read once counts.
TEST_F(ResultsTest, ReadsLengthsOnce) {
  const std::uint32_t one = 1, much = 0xffff'fff0;
  for (std::size_t at : {0u, 5u, 10u, 15u}) {
    std::memcpy(space_.data() + at, &one, sizeof one);
    space_.bytes()[at + 4] = std::byte{'x'};
  }
  const auto rows = results_of(ran({"y", DataType::bytes, {2, 2}}, 0, 20), 2, space_, function_);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((*rows)[0].outputs.at(0).texts.begins, (*rows)[1].outputs.at(0).texts.begins);  // for all rows together
  for (std::size_t at : {0u, 5u, 10u, 15u}) std::memcpy(space_.data() + at, &much, sizeof much);
  const data::Tensor& second = (*rows)[1].outputs.at(0);
  const auto last = data::row_of(second, 1);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->offset, 15u);
  EXPECT_EQ(last->size, 5u);
  EXPECT_EQ(data::texts_of(second)->at(1).size(), 1u);
  EXPECT_FALSE(results_of(ran({"y", DataType::bytes, {2, 2}}, 0, 20), 2, space_, function_).ok());
}

TEST_F(ResultsTest, ReadsLengthsOfAnOutputOfOneRowOnce) {
  const std::uint32_t one = 1, much = 0xffff'fff0;
  std::memcpy(space_.data(), &one, sizeof one);
  const auto rows = results_of(ran({"y", DataType::bytes, {1}}, 0, 5, 0), 1, space_, function_);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  std::memcpy(space_.data(), &much, sizeof much);
  const auto texts = data::texts_of(rows->front().outputs.at(0));
  ASSERT_TRUE(texts.has_value());
  EXPECT_EQ(texts->at(0).size(), 1u);
}

TEST_F(ResultsTest, BelievesNothingOutsideOfTheSpace) {
  const data::TensorInfo info{"y", DataType::uint8, {1, 16}};
  EXPECT_FALSE(results_of(ran(info, 250, 16), 1, space_, function_).ok());
  EXPECT_FALSE(results_of(ran(info, ~std::uint64_t{0} - 8, 16), 1, space_, function_).ok());
  EXPECT_FALSE(results_of(ran(info, 0, 17), 1, space_, function_).ok());  // not what it says
  EXPECT_FALSE(results_of(ran(info, 0, 16), 2, space_, function_).ok());  // other rows
  EXPECT_FALSE(results_of(ran({"y", DataType::uint8, {16}}, 0, 16, 7), 1, space_, function_).ok());
  EXPECT_TRUE(results_of(ran(info, 240, 16), 1, space_, function_).ok());
}

TEST_F(ResultsTest, MissesAnOutputThatWasDeclared) {
  function_.outputs = {{.name = "label"}};
  const auto rows = results_of(ran({"y", DataType::uint8, {1, 1}}, 0, 1), 1, space_, function_);
  ASSERT_TRUE(rows.ok());
  EXPECT_NE(rows->front().error.find("label"), std::string::npos);
}

}  // namespace
}  // namespace sluice::invoker
