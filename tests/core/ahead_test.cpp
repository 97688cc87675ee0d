// Machines that are sent the next batch while one computes: who counts as ending, who follows whom, and when.
#include <gtest/gtest.h>

#include "core/books.h"
#include "core/scene.h"

namespace sluice::core {
namespace {

constexpr InvokerId kInvoker(0);

Time ms(double at) {
  return Time::from_ns(Duration::ms(at).count_ns());
}

Claim claim(const Configuration& configuration, double from, double to) {
  return {configuration, policy::SharedFunctionId(0), ms(from), ms(to)};
}

NodeGroup machine(std::uint32_t vcpu, std::uint32_t slices, double ahead_ms) {
  return {.vcpu = vcpu, .gpus = 1, .slices_per_gpu = slices, .ahead = Duration::ms(ahead_ms)};
}

Books books_of(const NodeGroup& capacity) {
  Books books;
  books.join(kInvoker, {1}, capacity, true);
  return books;
}

TEST(Ahead, SlicesCountAsFreeShortlyBeforeTheyAre) {
  Books books = books_of(machine(8, 4, 2));
  ASSERT_TRUE(books.take(kInvoker, BatchId(1), claim(configuration(1, 1, 4), 0, 10)));
  EXPECT_EQ(books.next_to_end(), ms(8));
  books.let_end(ms(7.9));
  EXPECT_FALSE(books.take(kInvoker, BatchId(2), claim(configuration(1, 1, 2), 7.9, 12)));
  books.let_end(ms(8));
  EXPECT_EQ(books.next_to_end(), std::nullopt);
  ASSERT_TRUE(books.take(kInvoker, BatchId(2), claim(configuration(1, 1, 2), 8, 12)));
  EXPECT_EQ(books.follow(kInvoker, BatchId(2)), std::vector{BatchId(1)});
  ASSERT_TRUE(books.take(kInvoker, BatchId(3), claim(configuration(1, 1, 2), 8, 12)));
  EXPECT_EQ(books.follow(kInvoker, BatchId(3)), std::vector{BatchId(1)});
  EXPECT_FALSE(books.take(kInvoker, BatchId(4), claim(configuration(1, 1, 1), 8, 12)));
}

TEST(Ahead, WhoFollowsCanNotBeFollowed) {
  Books books = books_of(machine(8, 4, 100));
  ASSERT_TRUE(books.take(kInvoker, BatchId(1), claim(configuration(1, 1, 4), 0, 10)));
  books.let_end(ms(1));
  ASSERT_TRUE(books.take(kInvoker, BatchId(2), claim(configuration(1, 1, 4), 1, 11)));
  ASSERT_EQ(books.follow(kInvoker, BatchId(2)), std::vector{BatchId(1)});
  books.let_end(ms(50));
  EXPECT_FALSE(books.take(kInvoker, BatchId(3), claim(configuration(1, 1, 4), 50, 60)));
  books.give_back(kInvoker, BatchId(1));
  books.begin(kInvoker, BatchId(2), ms(60));
  EXPECT_EQ(books.invokers()[0].bookings[0].to, ms(70));
  books.let_end(ms(60));
  ASSERT_TRUE(books.take(kInvoker, BatchId(3), claim(configuration(1, 1, 4), 60, 70)));
  EXPECT_EQ(books.follow(kInvoker, BatchId(3)), std::vector{BatchId(2)});
}

// The slices are others, but there are no vCPUs for all three at once.
TEST(Ahead, ABatchAlsoFollowsThoseWhoseVcpusItTakes) {
  Books books = books_of(machine(4, 4, 2));
  ASSERT_TRUE(books.take(kInvoker, BatchId(1), claim(configuration(1, 2, 1), 0, 10)));
  ASSERT_TRUE(books.take(kInvoker, BatchId(2), claim(configuration(1, 2, 1), 0, 9)));
  books.let_end(ms(9));
  const auto positions = books.take(kInvoker, BatchId(3), claim(configuration(1, 2, 2), 9, 12));
  ASSERT_TRUE(positions);
  EXPECT_EQ(positions->slices, 0b1100u);                                   // those that are idle
  EXPECT_EQ(books.follow(kInvoker, BatchId(3)), std::vector{BatchId(2)});  // it ends first
  ASSERT_TRUE(books.take(kInvoker, BatchId(4), claim(configuration(1, 1, 0), 9, 12)));
  EXPECT_EQ(books.follow(kInvoker, BatchId(4)), (std::vector{BatchId(1), BatchId(2)}));
}

TEST(Ahead, ABatchOnCpusEndsWhenItEnds) {
  Books books = books_of(machine(2, 4, 2));
  ASSERT_TRUE(books.take(kInvoker, BatchId(1), claim(configuration(1, 2, 0), 0, 10)));
  EXPECT_EQ(books.next_to_end(), std::nullopt);
  books.let_end(ms(20));
  EXPECT_FALSE(books.take(kInvoker, BatchId(2), claim(configuration(1, 1, 1), 20, 30)));
}

Scene scene_with(double ahead_ms) {
  Scene scene({stage("a")});
  scene.see(InvokerJoined{.id = kInvoker, .epoch = 1, .capacity = machine(4, 1, ahead_ms), .warm = true});
  return scene;
}

TEST(Ahead, TheNextBatchIsSentWhileOneComputes) {
  Scene scene = scene_with(2);
  EXPECT_EQ(scene.arrive(1).decide(), Starts{"a of 1"});
  EXPECT_EQ(scene.at(1).arrive(2).decide(), Starts{});
  EXPECT_EQ(scene.wake_ms(), 8);
  EXPECT_EQ(scene.at(8).decide(), Starts{"a of 2"});
  ASSERT_EQ(scene.started().size(), 2u);
  EXPECT_EQ(scene.started()[0].after, std::vector<BatchId>{});
  EXPECT_EQ(scene.started()[1].after, std::vector{scene.started()[0].id});
  EXPECT_EQ(scene.at(9).arrive(3).decide(), Starts{});  // not two
  EXPECT_EQ(scene.reload().at(11).finish().decide(), Starts{});
  EXPECT_EQ(scene.wake_ms(), 19);  // the second began at 11
  EXPECT_EQ(scene.at(19).decide(), Starts{"a of 3"});
  EXPECT_EQ(scene.at(21).finish().at(31).finish().decide(), Starts{});
  EXPECT_EQ(scene.replies(), (Starts{"1 finished", "2 finished", "3 finished"}));
}

TEST(Ahead, NobodyIsSentAheadWhereMachinesDoNotSaySo) {
  Scene scene = scene_with(0);
  EXPECT_EQ(scene.arrive(1).arrive(2).decide().size(), 1u);
  EXPECT_EQ(scene.at(9.99).decide(), Starts{});
  EXPECT_EQ(scene.at(10).finish().decide(), Starts{"a of 2"});
  EXPECT_TRUE(scene.started()[0].after.empty());
}

TEST(Ahead, AFollowerThatEndsFirstLeavesTheOtherAlone) {
  Scene scene = scene_with(2);
  (void)scene.arrive(1).decide();
  (void)scene.at(8).arrive(2).decide();
  const StartBatch follower = scene.started()[1];
  scene.started().pop_back();
  scene.at(9).see(BatchFailed{.id = follower.id, .error = "WorkerCrashed"});
  EXPECT_EQ(scene.decide(), Starts{"a of 2"});  // again, behind the same
  EXPECT_EQ(scene.started()[1].after, std::vector{scene.started()[0].id});
  EXPECT_EQ(scene.at(10).finish().at(20).finish().decide(), Starts{});
  EXPECT_EQ(scene.replies(), (Starts{"1 finished", "2 finished"}));
}

TEST(Ahead, BothAreRetriedWhenTheirMachineIsLost) {
  Scene scene = scene_with(2);
  (void)scene.arrive(1).decide();
  (void)scene.at(8).arrive(2).decide();
  EXPECT_EQ(scene.lose(0).decide(), Starts{});
  scene.see(InvokerJoined{.id = kInvoker, .epoch = 2, .capacity = machine(4, 2, 2), .warm = true});
  EXPECT_EQ(scene.decide(), (Starts{"a of 1", "a of 2"}));
}

}  // namespace
}  // namespace sluice::core
