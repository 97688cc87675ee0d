#include "invoker/output_size.h"

#include <gtest/gtest.h>

namespace sluice::invoker {
namespace {

TEST(OutputSize, IsWhatIsDeclaredWithSomeSpare) {
  EXPECT_EQ(OutputSize(1 << 20).space_for(4), std::size_t{5} << 20);
  EXPECT_EQ(OutputSize(64).space_for(1), OutputSize::kLeast);
}

TEST(OutputSize, FollowsWhatCameLately) {
  OutputSize size;
  EXPECT_EQ(size.space_for(8), OutputSize::kLeast);
  size.seen(8'000);
  EXPECT_EQ(size.space_for(8), 80'000u);
}

// One large answer must not make all small ones after it expensive.
TEST(OutputSize, ForgetsOneLargeAnswer) {
  OutputSize size;
  size.seen(60 << 20);
  EXPECT_EQ(size.space_for(1), OutputSize::kGuessMost);
  for (int batch = 0; batch < 20; ++batch) size.seen(100);
  EXPECT_EQ(size.space_for(1), OutputSize::kLeast);
}

}  // namespace
}  // namespace sluice::invoker
