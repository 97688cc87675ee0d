#include "live/sample.h"

#include <gtest/gtest.h>

#include "data/tensor_blob.h"

namespace sluice::live {
namespace {

class SampleTest : public testing::Test {
 protected:
  static Function declaring(std::vector<Port> inputs) {
    Function out;
    out.name = "f";
    out.inputs = std::move(inputs);
    return out;
  }
  std::shared_ptr<data::Arena> arena_ = data::Arena::make(Bytes::mb(1)).value();
};

TEST_F(SampleTest, HasTheDeclaredTypes) {
  const Function function = declaring({{"x", DataType::fp32, {2}, {}}, {"n", DataType::uint8, {1}, {}}});
  const auto tensors = Sample::of_document(R"({"x": [1, 2], "n": 3})").place(function, *arena_);
  ASSERT_TRUE(tensors.ok()) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ(tensors->at(0).info, (data::TensorInfo{"x", DataType::fp32, {2}}));
  EXPECT_EQ(tensors->at(1).info, (data::TensorInfo{"n", DataType::uint8, {1}}));
  EXPECT_EQ(tensors->at(1).bytes()[0], std::byte{3});
}

TEST_F(SampleTest, SaysWhichInputDoesNotFit) {
  const auto wrong = Sample::of_document(R"({"n": 300})").place(declaring({{"n", DataType::uint8, {1}, {}}}), *arena_);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message,
            "the sample of input 'n' of function 'f' is 300, which is not UINT8 of the declared shape");
}

TEST_F(SampleTest, IsTypedByItsValuesWhereNothingIsDeclared) {
  const auto tensors =
      Sample::of_document(R"({"x": [1, 2.5], "n": [7], "text": "hello"})").place(declaring({}), *arena_);
  ASSERT_TRUE(tensors.ok()) << tensors.error().message;
  EXPECT_EQ(tensors->at(0).info, (data::TensorInfo{"x", DataType::fp64, {2}}));
  EXPECT_EQ(tensors->at(1).info, (data::TensorInfo{"n", DataType::int64, {1}}));
  EXPECT_EQ(tensors->at(2).info, (data::TensorInfo{"text", DataType::bytes, {1}}));
}

TEST_F(SampleTest, LosesItsBatchDimensionAsARequestDoesWhereNothingIsDeclared) {
  const auto tensors = Sample::of_document(R"({"x": [[1, 2]]})").place(declaring({}), *arena_);
  ASSERT_TRUE(tensors.ok()) << tensors.error().message;
  EXPECT_EQ(tensors->front().info.shape, (data::Shape{2}));
}

TEST_F(SampleTest, OfARequestIsWhatItBrought) {
  data::Tensor x{.info = {"x", DataType::uint8, {1, 2}}, .block = *arena_->allocate(2), .size = 2};
  x.bytes()[1] = std::byte{9};
  const auto tensors = Sample::of_request(data::to_blob({x})).place(declaring({}), *arena_);
  ASSERT_TRUE(tensors.ok()) << tensors.error().message;
  EXPECT_EQ(tensors->front().info, x.info);
  EXPECT_EQ(tensors->front().bytes()[1], std::byte{9});
}

}  // namespace
}  // namespace sluice::live
