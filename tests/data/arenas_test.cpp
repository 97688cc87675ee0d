#include "data/arenas.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <thread>

#include "data/clock.h"
#include "support/eventually.h"
#include "support/forbidden.h"

namespace sluice::data {
namespace {

TEST(Arenas, HasOneForEveryTenant) {
  Arenas arenas({.all = Bytes::mb(1)});
  const auto one = arenas.of("one").value(), other = arenas.of("other").value(), own = arenas.of("").value();
  EXPECT_EQ(arenas.of("one").value(), one);
  EXPECT_NE(one->descriptor(), other->descriptor());
  EXPECT_NE(one->base(), other->base());
  EXPECT_NE(own, one);
  const auto block = one->allocate(64), elsewhere = other->allocate(64);
  std::memcpy(block->data(), "secret", 6);
  EXPECT_EQ(block->offset(), elsewhere->offset());
  EXPECT_NE(std::memcmp(elsewhere->data(), "secret", 6), 0);
}

TEST(Arenas, GivesATenantNoMoreThanItsShareAndAllNoMoreThanThereIs) {
  Arenas arenas({.all = Bytes(10'000'000), .per_tenant = Bytes(6'000'000)});
  const auto one = arenas.of("one").value(), other = arenas.of("other").value();
  EXPECT_FALSE(one->allocate(6'100'000).has_value());
  auto held = one->allocate(5'900'000);
  EXPECT_TRUE(held.has_value());
  EXPECT_FALSE(other->allocate(4'200'000).has_value());
  EXPECT_TRUE(other->allocate(4'000'000).has_value());
  EXPECT_EQ(arenas.used(), 5'900'032u);  // of whole lines
  held.reset();
  EXPECT_TRUE(other->allocate(5'900'000).has_value());
  EXPECT_EQ(arenas.used(), 0u);
}

TEST(Arenas, HasSoManyTenantsAndNoMore) {
  Arenas arenas({.all = Bytes::mb(1), .tenants_max = 2});
  EXPECT_TRUE(arenas.of("a").ok() && arenas.of("b").ok() && arenas.of("a").ok());
  const auto third = arenas.of("c");
  ASSERT_FALSE(third.ok());
  EXPECT_NE(third.error().message.find("'c'"), std::string::npos);
}

TEST(Arenas, ReturnsPagesInAThreadOfItsOwnAndIsOutlivedByBlocks) {
  Block longer;
  {
    Arenas arenas({.all = Bytes::mb(64)});
    const auto arena = arenas.of("a").value();
    auto block = arena->allocate(32 << 20);
    std::memset(block->data(), 7, block->size());
    block.reset();
    struct stat file {};
    const Time until = data::now() + Duration::s(30);
    do {
      std::this_thread::yield();
      ::fstat(arena->descriptor(), &file);
    } while (file.st_blocks > 0 && data::now() < until);
    EXPECT_EQ(file.st_blocks, 0);
    longer = *arena->allocate(8'000'000);
  }
  longer.bytes()[5] = std::byte{1};
  longer = Block();
}

// The thread that frees, or that asks for pages, has a scheduler to run: here the system refuses it what takes long.
TEST(Arenas, ReturnsPagesAndMakesThemAheadInNobodyElsesThread) {
  Arenas arenas({.all = Bytes::mb(64)});
  const auto arena = arenas.of("a").value();
  const auto pages = [&] {
    struct stat file {};
    ::fstat(arena->descriptor(), &file);
    return file.st_blocks / 8;
  };
  auto large = arena->allocate(32 << 20);
  std::memset(large->data(), 7, large->size());
  bool forbidden = false;
  std::thread([&] {
    forbidden = test::forbid({test::kPunchesHoles, test::kPopulates});
    large.reset();
  }).join();
  if (!forbidden) GTEST_SKIP() << "no system call can be forbidden here";
  ASSERT_TRUE(test::eventually([&] { return pages() == 0; }));
  const auto small = arena->allocate(4096);
  std::thread([&] {
    ASSERT_TRUE(test::forbid({test::kPopulates}));
    arena->populate(*small);
  }).join();
  EXPECT_TRUE(test::eventually([&] { return pages() >= (16 << 20) / 4096; }));
}

}  // namespace
}  // namespace sluice::data
