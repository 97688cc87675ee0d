#include "data/shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/save.h"

namespace sluice::data {
namespace {

using Lengths = std::vector<std::int64_t>;

Shape counting(std::int64_t dimensions) {
  Shape out;
  for (std::int64_t i = 1; i <= dimensions; ++i) out.push_back(i);
  return out;
}

TEST(Shape, IsTheSameWithFewAndManyDimensions) {
  for (std::int64_t n = 0; n <= 9; ++n) {
    Lengths expected;
    for (std::int64_t i = 1; i <= n; ++i) expected.push_back(i);
    const Shape shape = counting(n);
    EXPECT_EQ(shape, Shape(expected));
    EXPECT_EQ(Lengths(shape.begin(), shape.end()), expected);
  }
  EXPECT_NE(counting(4), counting(5));
  EXPECT_NE((Shape{1, 2}), (Shape{1, 3}));
}

TEST(Shape, TakesAndGivesItsFirstDimension) {
  for (std::int64_t n = 0; n <= 9; ++n) {
    Shape shape = counting(n);
    shape.push_front(7);
    EXPECT_EQ(shape.size(), static_cast<std::size_t>(n + 1));
    EXPECT_EQ(shape.front(), 7);
    shape.pop_front();
    EXPECT_EQ(shape, counting(n));
  }
}

TEST(Shape, CopiesAreTheirOwn) {
  for (const std::int64_t n : {3, 6}) {
    Shape first = counting(n);
    Shape copy = first;
    copy[0] = 9;
    copy.push_back(8);
    EXPECT_EQ(first, counting(n));
    first = copy;
    EXPECT_EQ(first, copy);
    first = Shape{2};
    EXPECT_EQ(first, (Shape{2}));
  }
}

// Workers and logs have read it as a list of numbers ever since.
TEST(Shape, IsSavedAsAList) {
  for (std::int64_t n = 0; n <= 9; ++n) {
    const Shape shape = counting(n);
    const Lengths list(shape.begin(), shape.end());
    std::string as_shape, as_list;
    save(shape, as_shape);
    save(list, as_list);
    EXPECT_EQ(as_shape, as_list);
    EXPECT_EQ(load<Shape>(as_shape), shape);
    for (std::size_t cut = 0; cut < as_shape.size(); ++cut)
      EXPECT_FALSE(load<Shape>(std::string_view(as_shape).substr(0, cut))) << n << " cut at " << cut;
  }
}

}  // namespace
}  // namespace sluice::data
