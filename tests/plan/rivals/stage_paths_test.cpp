#include "plan/rivals/stage_paths.h"

#include <gtest/gtest.h>

#include "support/tree_builder.h"

namespace sluice::plan {
namespace {

using namespace tree_builder;
using Paths = std::vector<StagePath>;

TEST(StagePaths, ListsEveryWayThrough) {
  EXPECT_EQ(stage_paths(chain_of(3), 4), (Paths{{0, 1, 2}}));
  EXPECT_EQ(stage_paths(tree_of(series({stage(0), parallel({stage(1), empty()}), parallel({stage(2), stage(3)})})), 4),
            (Paths{{0, 1, 2}, {0, 1, 3}, {0, 2}, {0, 3}}));
}

TEST(StagePaths, FollowsTheEdgesOfAnIrregularRegion) {
  const auto region = irregular({stage(0), stage(1), stage(2), stage(3)}, {{0, 2}, {0, 3}, {1, 3}});
  EXPECT_EQ(stage_paths(tree_of(region), 4), (Paths{{0, 2}, {0, 3}, {1, 3}}));
}

TEST(StagePaths, GivesUpOnMoreThanAsked) {
  std::vector<Shape> forks;
  for (std::uint32_t i = 0; i < 60; i += 2) forks.push_back(parallel({stage(i), stage(i + 1)}));
  EXPECT_EQ(stage_paths(tree_of(series(forks)), 16), std::nullopt);  // 2^30
  EXPECT_EQ(stage_paths(tree_of(parallel({stage(0), stage(1), stage(2)})), 2), std::nullopt);
  const auto region = irregular({stage(0), stage(1), stage(2), stage(3)}, {{0, 2}, {0, 3}, {1, 3}});
  EXPECT_EQ(stage_paths(tree_of(region), 2), std::nullopt);
}

}  // namespace
}  // namespace sluice::plan
