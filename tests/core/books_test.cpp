#include "core/books.h"

#include <gtest/gtest.h>

namespace sluice::core {
namespace {

TEST(Books, GiveASliceOnlyOnce) {
  Books books;
  books.join(InvokerId(0), 1, {.vcpu = 8, .gpus = 1, .slices_per_gpu = 7});
  const auto first = books.take(InvokerId(0), configuration(1, 2, 4));
  ASSERT_TRUE(first);
  const auto second = books.take(InvokerId(0), configuration(1, 2, 3));
  ASSERT_TRUE(second);
  EXPECT_EQ(first->slices & second->slices, 0u);
  EXPECT_FALSE(books.take(InvokerId(0), configuration(1, 1, 1)));
  books.give_back(InvokerId(0), configuration(1, 2, 4), *first);
  EXPECT_TRUE(books.take(InvokerId(0), configuration(1, 1, 4)));
}

TEST(BooksDeathTest, GivingBackTwiceIsABug) {
  Books books;
  books.join(InvokerId(0), 1, {.vcpu = 8, .gpus = 1, .slices_per_gpu = 7});
  const auto taken = books.take(InvokerId(0), configuration(1, 2, 4));
  books.give_back(InvokerId(0), configuration(1, 2, 4), *taken);
  EXPECT_DEATH(books.give_back(InvokerId(0), configuration(1, 2, 4), *taken), "CHECK failed");
}

TEST(Books, MigSharesStartWhereTheHardwareLetsThem) {
  const policy::Gpu all{7, 0b1111111};
  EXPECT_EQ(free_positions(all, 3, SliceLayout::mig), 0b0000111u);
  EXPECT_EQ(free_positions({7, 0b1110111}, 3, SliceLayout::mig), 0b0000111u);
  EXPECT_EQ(free_positions({7, 0b1110001}, 3, SliceLayout::mig), 0b1110000u);
  EXPECT_EQ(free_positions({7, 0b1111110}, 4, SliceLayout::mig), std::nullopt);
  EXPECT_EQ(free_positions({7, 0b1111110}, 2, SliceLayout::mig), 0b0001100u);
}

TEST(Books, InterchangeableSlicesNeedNotBeNeighbours) {
  EXPECT_EQ(free_positions({7, 0b1010101}, 3, SliceLayout::any), 0b0010101u);
  EXPECT_EQ(free_positions({7, 0b1010101}, 2, SliceLayout::buddy), std::nullopt);
  EXPECT_EQ(free_positions({7, 0b0001111}, 3, SliceLayout::buddy), 0b0000111u);
}

}  // namespace
}  // namespace sluice::core
