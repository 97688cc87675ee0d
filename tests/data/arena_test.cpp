#include "data/arena.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "base/rng.h"

namespace sluice::data {
namespace {

std::shared_ptr<Arena> an_arena(std::int64_t bytes = 1024) {
  return Arena::make(Bytes(bytes)).value();
}

TEST(Arena, HandsOutAlignedStretchesThatDoNotOverlap) {
  const auto arena = an_arena();
  const Block a = *arena->allocate(1), b = *arena->allocate(65);
  EXPECT_EQ(a.offset() % Arena::kAlignment, 0u);
  EXPECT_EQ(b.offset() % Arena::kAlignment, 0u);
  EXPECT_EQ(a.size(), 1u);
  EXPECT_EQ(b.size(), 65u);
  EXPECT_GE(b.offset(), a.offset() + 64);
  EXPECT_EQ(arena->used(), 64u + 128u);
}

TEST(Arena, FreesAStretchWithItsLastHandle) {
  const auto arena = an_arena();
  auto block = arena->allocate(100);
  Block second = *block;
  block.reset();
  EXPECT_EQ(arena->used(), 128u);
  second = Block();
  EXPECT_EQ(arena->used(), 0u);
}

TEST(Arena, TakesTheSmallestFreeStretchThatIsLargeEnough) {
  const auto arena = an_arena();
  auto large = arena->allocate(256);
  const auto wall = arena->allocate(64);
  auto small = arena->allocate(128);
  const auto last = arena->allocate(64);
  const std::size_t large_at = large->offset(), small_at = small->offset();
  large.reset();
  small.reset();
  EXPECT_EQ(arena->allocate(100)->offset(), small_at);
  EXPECT_EQ(arena->allocate(200)->offset(), large_at);
}

TEST(Arena, JoinsFreeStretchesOnBothSides) {
  for (const auto& order : {std::vector{0, 1, 2}, std::vector{2, 1, 0}, std::vector{0, 2, 1}, std::vector{1, 0, 2}}) {
    const auto arena = an_arena(3 * 64);
    std::vector<std::optional<Block>> blocks{arena->allocate(64), arena->allocate(64), arena->allocate(64)};
    for (const int i : order) blocks[static_cast<std::size_t>(i)].reset();
    EXPECT_TRUE(arena->allocate(3 * 64).has_value());
  }
}

TEST(Arena, HasNothingLeftWhenItIsFull) {
  const auto arena = an_arena();
  auto all = arena->allocate(1024);
  ASSERT_TRUE(all.has_value());
  EXPECT_FALSE(arena->allocate(1).has_value());
  EXPECT_FALSE(arena->allocate(1025).has_value());
  EXPECT_FALSE(arena->allocate(~std::size_t{0}).has_value());
  all.reset();
  EXPECT_TRUE(arena->allocate(1024).has_value());
}

TEST(Arena, HasABlockOfZeroBytesEvenWhenItIsFull) {
  const auto arena = an_arena(64);
  const auto all = arena->allocate(64);
  const auto none = arena->allocate(0);
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(static_cast<bool>(*none));
  EXPECT_EQ(none->size(), 0u);
  EXPECT_FALSE(static_cast<bool>(Block()));
  EXPECT_EQ(Block().data(), nullptr);
}

TEST(Arena, IsTheSameMemoryForWhoeverMapsItsDescriptor) {
  const auto arena = an_arena(4096);
  const auto block = arena->allocate(5);
  std::memcpy(block->data(), "hello", 5);
  void* other = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, arena->descriptor(), 0);
  ASSERT_NE(other, MAP_FAILED);
  EXPECT_EQ(std::memcmp(static_cast<std::byte*>(other) + block->offset(), "hello", 5), 0);
  ::munmap(other, 4096);
}

TEST(Arena, LivesAsLongAsItsBlocks) {
  auto arena = an_arena();
  const std::weak_ptr<Arena> seen = arena;
  auto block = arena->allocate(64);
  arena.reset();
  block->bytes()[0] = std::byte{1};
  EXPECT_FALSE(seen.expired());
  block.reset();
  EXPECT_TRUE(seen.expired());
}

// Whoever has its descriptor could end the server otherwise, at the server's next look at a page that is gone.
TEST(Arena, CannotBeMadeSmallerOrLarger) {
  const auto arena = an_arena(1 << 20);
  EXPECT_NE(::ftruncate(arena->descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(arena->descriptor(), 2 << 20), 0);
  EXPECT_NE(::fcntl(arena->descriptor(), F_ADD_SEALS, F_SEAL_WRITE), 0);
}

// Pages that the system holds for it.
std::int64_t pages_of(const Arena& arena) {
  struct stat file {};
  ::fstat(arena.descriptor(), &file);
  return file.st_blocks / 8;
}

TEST(Arena, GivesLargeStretchesBackToTheSystemWhenItIsAskedTo) {
  int asked = 0;
  const auto arena = Arena::make(Bytes(64 << 20), {.wants_tending = [&](Arena&) { ++asked; }}).value();
  auto large = arena->allocate(40 << 20), small = arena->allocate(64 << 10);
  std::memset(large->data(), 7, large->size());
  std::memset(small->data(), 7, small->size());
  small.reset();
  EXPECT_EQ(asked, 0);
  large.reset();
  EXPECT_EQ(asked, 1);
  EXPECT_GE(pages_of(*arena), (40 << 20) / 4096);  // not by whoever freed it: that takes long
  auto again = arena->allocate(1 << 20);
  again->bytes()[0] = std::byte{9};
  arena->tend();
  EXPECT_LE(pages_of(*arena), (17 << 20) / 4096);  // all but the piece that somebody has again
  EXPECT_EQ(again->bytes()[0], std::byte{9});
  again.reset();
  EXPECT_TRUE(arena->allocate(64 << 20).has_value());
}

TEST(Arena, MakesPagesOfABlockAndThoseOfTheNextOnesAhead) {
  int asked = 0;
  const auto arena = Arena::make(Bytes(64 << 20), {.wants_tending = [&](Arena&) { ++asked; }}).value();
  const auto first = arena->allocate(1 << 20);
  arena->populate(*first);
  EXPECT_EQ(pages_of(*arena), (1 << 20) / 4096);
  EXPECT_EQ(asked, 1);
  arena->tend();
  EXPECT_EQ(pages_of(*arena), (17 << 20) / 4096);
  const auto second = arena->allocate(2 << 20);
  arena->populate(*second);  // they are there
  EXPECT_EQ(pages_of(*arena), (17 << 20) / 4096);
  EXPECT_EQ(asked, 1);
}

TEST(Arena, MakesPagesAgainThatWereReturned) {
  const auto arena = Arena::make(Bytes(64 << 20), {.wants_tending = [](Arena&) {}}).value();
  auto block = arena->allocate(8 << 20);
  arena->populate(*block);
  block.reset();
  arena->tend();
  const std::int64_t without = pages_of(*arena);
  block = arena->allocate(8 << 20);
  arena->populate(*block);
  EXPECT_EQ(pages_of(*arena), without + (8 << 20) / 4096);
}

TEST(Arena, KeepsItsPagesWhenItIsPinned) {
  int asked = 0;
  const auto arena = Arena::make(Bytes(64 << 20), {.wants_tending = [&](Arena&) { ++asked; }}).value();
  auto first = arena->allocate(8 << 20), second = arena->allocate(8 << 20);
  std::memset(first->data(), 7, first->size());
  std::memset(second->data(), 7, second->size());
  first.reset();
  arena->pin();
  second.reset();
  arena->tend();
  EXPECT_EQ(asked, 1);
  EXPECT_GE(pages_of(*arena), (16 << 20) / 4096);
}

TEST(Arena, ComesBackToNothingUsedWhateverIsTakenAndFreedInWhicheverOrder) {
  const auto arena = an_arena(64 << 10);
  Rng rng(7);
  std::vector<Block> held;
  for (int i = 0; i < 5000; ++i) {
    if (held.empty() || rng.below(2) == 0) {
      if (auto block = arena->allocate(rng.below(3000))) held.push_back(*block);
    } else {
      std::swap(held[rng.below(held.size())], held.back());
      held.pop_back();
    }
    std::map<std::size_t, std::size_t> taken;
    for (const Block& block : held) {
      EXPECT_TRUE(block.size() == 0 || taken.emplace(block.offset(), block.size()).second);
    }
    std::size_t end = 0;
    for (const auto& [offset, size] : taken) {
      ASSERT_GE(offset, end);
      end = offset + size;
    }
    ASSERT_LE(end, arena->capacity());
  }
  held.clear();
  EXPECT_EQ(arena->used(), 0u);
  EXPECT_TRUE(arena->allocate(64 << 10).has_value());
}

TEST(Arena, TakesHandlesBackFromOtherThreads) {
  const auto arena = an_arena(1 << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([arena] {
      for (std::size_t i = 0; i < 2000; ++i) {
        auto block = arena->allocate(64 + i % 500);
        if (!block) continue;
        std::thread::id me = std::this_thread::get_id();
        std::memcpy(block->data(), &me, sizeof me);
        EXPECT_EQ(std::memcmp(block->data(), &me, sizeof me), 0);
      }
    });
  }
  auto held = arena->allocate(128);
  threads.emplace_back([block = std::move(*held)]() mutable { block = Block(); });
  held.reset();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(arena->used(), 0u);
}

}  // namespace
}  // namespace sluice::data
