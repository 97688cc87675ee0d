#include "core/books.h"

#include <gtest/gtest.h>

#include "policy/slice_positions.h"
#include "policy/timeline.h"

namespace sluice::core {
namespace {

constexpr InvokerId kInvoker(0);
constexpr policy::SharedFunctionId kFunction(0);

Time ms(double at) {
  return Time::from_ns(Duration::ms(at).count_ns());
}

Claim claim(const Configuration& configuration, double from = 0, double to = 10) {
  return {configuration, kFunction, ms(from), ms(to)};
}

Books one_machine() {
  Books books;
  books.join(kInvoker, {1}, {.vcpu = 8, .gpus = 1, .slices_per_gpu = 7}, true);
  return books;
}

TEST(Books, GiveASliceOnlyOnce) {
  Books books = one_machine();
  const auto first = books.take(kInvoker, BatchId(1), claim(configuration(1, 2, 4)));
  ASSERT_TRUE(first);
  const auto second = books.take(kInvoker, BatchId(2), claim(configuration(1, 2, 3)));
  ASSERT_TRUE(second);
  EXPECT_EQ(first->slices & second->slices, 0u);
  EXPECT_FALSE(books.take(kInvoker, BatchId(3), claim(configuration(1, 1, 1))));
  books.give_back(kInvoker, BatchId(1));
  EXPECT_TRUE(books.take(kInvoker, BatchId(3), claim(configuration(1, 1, 4))));
}

TEST(BooksDeathTest, GivingBackTwiceIsABug) {
  Books books = one_machine();
  ASSERT_TRUE(books.take(kInvoker, BatchId(1), claim(configuration(1, 2, 4))));
  books.give_back(kInvoker, BatchId(1));
  EXPECT_DEATH(books.give_back(kInvoker, BatchId(1)), "CHECK failed");
}

TEST(Books, WhatIsPromisedIsNotGivenToOthers) {
  Books books = one_machine();
  books.reserve(kInvoker, ReservationId(1),
                {.invoker = kInvoker,
                 .configuration = configuration(1, 1, 7),
                 .positions = {0, 0b1111111},
                 .from = ms(20),
                 .to = ms(30)});
  EXPECT_FALSE(books.take(kInvoker, BatchId(1), claim(configuration(1, 1, 1), 0, 21)));
  EXPECT_TRUE(books.take(kInvoker, BatchId(1), claim(configuration(1, 1, 1), 0, 20)));
  EXPECT_FALSE(books.take_reserved(kInvoker, ReservationId(1), BatchId(2), claim(configuration(1, 1, 7), 20, 30), 1));
  books.give_back(kInvoker, BatchId(1));
  EXPECT_TRUE(books.take_reserved(kInvoker, ReservationId(1), BatchId(2), claim(configuration(1, 1, 7), 20, 30), 1));
}

TEST(Books, APromiseHasPlacesForAsManyAsItsBatchHolds) {
  Books books = one_machine();
  const policy::Reserved place{.invoker = kInvoker,
                               .configuration = configuration(4, 1, 7),
                               .positions = {0, 0b1111111},
                               .from = ms(20),
                               .to = ms(30),
                               .latest = ms(50)};
  books.reserve(kInvoker, ReservationId(1), place);
  const policy::Invoker& invoker = books.invokers()[0];
  books.share(kInvoker, ReservationId(1), ms(40));
  books.share(kInvoker, ReservationId(1), ms(60));
  EXPECT_EQ(invoker.bookings[0].members, 3u);
  EXPECT_EQ(invoker.bookings[0].latest, ms(40));  // of the one that can wait the least
  EXPECT_EQ(invoker.open, 1u);
  books.share(kInvoker, ReservationId(1), ms(60));
  EXPECT_EQ(invoker.open, 0u);
  EXPECT_DEATH(books.share(kInvoker, ReservationId(1), ms(60)), "open");
  books.unreserve(kInvoker, ReservationId(1));  // one of four leaves
  EXPECT_EQ(invoker.open, 1u);
  // Two of three are there: the last one keeps a promise of no certain time, and nobody joins it.
  EXPECT_TRUE(books.take_reserved(kInvoker, ReservationId(1), BatchId(2), claim(configuration(2, 1, 7), 20, 25), 2));
  ASSERT_EQ(invoker.bookings.size(), 2u);
  EXPECT_EQ(invoker.bookings[0].from, invoker.bookings[0].to);
  EXPECT_EQ(invoker.open, 0u);
  EXPECT_EQ(invoker.bookings[0].members, 1u);
  books.unreserve(kInvoker, ReservationId(1));
  EXPECT_EQ(invoker.reserved, 0u);
  EXPECT_EQ(invoker.open, 0u);
}

TEST(Books, PromisesShareVcpusOverTime) {
  Books books = one_machine();
  books.reserve(kInvoker, ReservationId(1),
                {.invoker = kInvoker,
                 .configuration = configuration(1, 6, 1),
                 .positions = {0, 0b1},
                 .from = ms(10),
                 .to = ms(20)});
  const policy::Invoker& invoker = books.invokers()[0];
  const auto gap = policy::first_gap(invoker, configuration(1, 4, 1), kFunction, ms(5), Duration::ms(6));
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->from, ms(20));
  EXPECT_EQ(policy::first_gap(invoker, configuration(1, 2, 1), kFunction, ms(5), Duration::ms(6))->from, ms(5));
  EXPECT_FALSE(policy::first_gap(invoker, configuration(1, 9, 1), kFunction, ms(5), Duration::ms(6)));
}

TEST(Books, MemoryIsTakenOnce) {
  Books books;
  books.join(kInvoker, {1}, {.vcpu = 8, .memory = Bytes::gb(1), .gpus = 1, .gpu_memory = Bytes::gb(4)}, false);
  EXPECT_TRUE(books.take_memory(kInvoker, std::uint16_t{0}, Bytes::gb(3)));
  EXPECT_FALSE(books.take_memory(kInvoker, std::uint16_t{0}, Bytes::gb(2)));
  EXPECT_TRUE(books.take_memory(kInvoker, std::nullopt, Bytes::gb(1)));
  books.give_back_memory(kInvoker, std::uint16_t{0}, Bytes::gb(3));
  EXPECT_TRUE(books.take_memory(kInvoker, std::uint16_t{0}, Bytes::gb(2)));
}

TEST(Books, ABatchNeedsALoadedInstanceUnlessEverythingIsWarm) {
  Books books;
  books.join(kInvoker, {1}, {.vcpu = 8, .gpus = 1, .slices_per_gpu = 7}, false);
  EXPECT_FALSE(books.take(kInvoker, BatchId(1), claim(configuration(1, 1, 1))));
  books.room(kInvoker, std::uint16_t{0}).add(kFunction, 1);
  EXPECT_TRUE(books.take(kInvoker, BatchId(1), claim(configuration(1, 1, 1))));
}

TEST(Books, MigSharesStartWhereTheHardwareLetsThem) {
  const policy::FreeSlices all{7, 0b1111111};
  EXPECT_EQ(policy::free_positions(all, 3, SliceLayout::mig), 0b0000111u);
  EXPECT_EQ(policy::free_positions({7, 0b1110111}, 3, SliceLayout::mig), 0b0000111u);
  EXPECT_EQ(policy::free_positions({7, 0b1110001}, 3, SliceLayout::mig), 0b1110000u);
  EXPECT_EQ(policy::free_positions({7, 0b1111110}, 4, SliceLayout::mig), std::nullopt);
  EXPECT_EQ(policy::free_positions({7, 0b1111110}, 2, SliceLayout::mig), 0b0001100u);
}

TEST(Books, InterchangeableSlicesNeedNotBeNeighbours) {
  EXPECT_EQ(policy::free_positions({7, 0b1010101}, 3, SliceLayout::any), 0b0010101u);
  EXPECT_EQ(policy::free_positions({7, 0b1010101}, 2, SliceLayout::buddy), std::nullopt);
  EXPECT_EQ(policy::free_positions({7, 0b0001111}, 3, SliceLayout::buddy), 0b0000111u);
}

}  // namespace
}  // namespace sluice::core
