#include "engine/place.h"

#include <gtest/gtest.h>

#include "engine/join_rows.h"
#include "engine/memory.h"

namespace sluice::engine {
namespace {

using test::Memory;

data::TensorInfo named(const std::string& name) {
  return {name, DataType::uint8, {1}};
}

TEST(Place, PutsOutputsOneAfterAnotherAtAlignedOffsets) {
  Memory memory;
  const auto placed = place(
      {{named("a"), kAllRows, 1}, {named("b"), 2, 64}, {named("c"), kAllRows, 0}, {named("d"), kAllRows, 3}}, memory);
  ASSERT_TRUE(placed.ok());
  EXPECT_EQ(memory.taken(), 131u);
  EXPECT_EQ(memory.offset((*placed)[0]), 0u);
  EXPECT_EQ(memory.offset((*placed)[1]), 64u);
  EXPECT_EQ(memory.offset((*placed)[3]), 128u);
  EXPECT_EQ((*placed)[1].row, 2);
  EXPECT_EQ((*placed)[1].tensor.info, named("b"));
  EXPECT_EQ((*placed)[3].tensor.bytes.size(), 3u);
}

TEST(Place, HasNothingToPlaceInNoSpace) {
  Memory memory(0);
  EXPECT_TRUE(place({}, memory)->empty());
}

TEST(Place, SaysThatThereIsNoSpace) {
  Memory memory(10);
  EXPECT_EQ(place({{named("a"), kAllRows, 11}}, memory).error().message, "full");
  EXPECT_EQ(place({{named("a"), kAllRows, ~std::size_t{0} - 10}}, memory).error().message, "output `a` is too large");
  EXPECT_EQ(place({{named("a"), kAllRows, 1}, {named("b"), kAllRows, ~std::size_t{0} - 64}}, memory).error().message,
            "output `b` is too large");
}

TEST(JoinRows, StacksWhatIsAlikeAndKeepsTheRestApart) {
  Memory memory;
  std::vector<RowOutputs> rows(2);
  rows[0].tensors = {{named("same"), "a"}, {named("other"), "b"}, {named("first"), "c"}};
  rows[1].tensors = {{{"other", DataType::uint8, {2}}, "de"}, {named("same"), "f"}};
  const auto outputs = join_rows(std::move(rows), memory).value();
  ASSERT_EQ(outputs.tensors.size(), 4u);
  EXPECT_EQ(outputs.tensors[0].tensor.info, (data::TensorInfo{"same", DataType::uint8, {2, 1}}));
  EXPECT_EQ(outputs.tensors[0].row, kAllRows);
  EXPECT_EQ(test::text(outputs.tensors[0].tensor.bytes), "af");
  EXPECT_EQ(outputs.tensors[1].row, 0);
  EXPECT_EQ(test::text(outputs.tensors[1].tensor.bytes), "b");
  EXPECT_EQ(outputs.tensors[2].row, 1);
  EXPECT_EQ(test::text(outputs.tensors[2].tensor.bytes), "de");
  EXPECT_EQ(outputs.tensors[3].tensor.info.name, "first");
  EXPECT_EQ(outputs.tensors[3].row, 0);
  EXPECT_TRUE(outputs.row_errors.empty());
}

}  // namespace
}  // namespace sluice::engine
