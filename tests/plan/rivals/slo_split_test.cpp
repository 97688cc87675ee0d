#include "plan/rivals/slo_split.h"

#include <gtest/gtest.h>

#include "plan/rivals/normalised_length.h"
#include "support/esg_profile.h"
#include "support/tree_builder.h"

namespace sluice::plan {
namespace {

using tree_builder::chain_of;
using tree_builder::empty;
using tree_builder::irregular;
using tree_builder::parallel;
using tree_builder::series;
using tree_builder::stage;
using tree_builder::tree_of;

using Stages = std::vector<Graph::Node>;

Stages stages_of(const SloSplit& split, std::size_t group) {
  const auto begin = split.order.begin() + split.groups[group].first;
  return {begin, begin + split.groups[group].count};
}

TEST(SloSplit, CutsEsgsLongChainInThreeAndTwo) {
  const auto lengths = average_normalised_lengths(esg_profile::expanded_image_classification().candidates());
  const SloSplit split = split_slo(chain_of(5), lengths);
  ASSERT_EQ(split.groups.size(), 2u);
  EXPECT_EQ(stages_of(split, 0), (Stages{0, 1, 2}));
  EXPECT_EQ(stages_of(split, 1), (Stages{3, 4}));
  EXPECT_NEAR(split.groups[0].share, .163 + .044 + .567, .001);
  EXPECT_NEAR(split.groups[1].share, .152 + .075, .001);
}

TEST(SloSplit, AChainOfOneGroupGetsEverything) {
  const SloSplit split = split_slo(chain_of(3), std::vector{.161, .568, .271});
  ASSERT_EQ(split.groups.size(), 1u);
  EXPECT_DOUBLE_EQ(split.groups[0].share, 1);
  EXPECT_EQ(split.budget_ms(0, 526), 526);
  EXPECT_EQ(split.budget_ms(2, 100), 100);
}

TEST(SloSplit, ReSplitsWhatIsLeft) {
  const SloSplit split = split_slo(chain_of(5), std::vector{1., 2., 3., 4., 6.});
  EXPECT_DOUBLE_EQ(split.budget_ms(0, 1600), 600);  // 1+2+3 of 16
  EXPECT_DOUBLE_EQ(split.budget_ms(1, 1500), 500);  // 2+3 of 15
  EXPECT_DOUBLE_EQ(split.budget_ms(2, 1300), 300);  // 3 of 13
  EXPECT_DOUBLE_EQ(split.budget_ms(3, 700), 700);   // the last group: all
  const auto left = split.stages_left(1);
  EXPECT_EQ(Stages(left.begin(), left.end()), (Stages{1, 2}));
}

TEST(SloSplit, GroupsOfOneGetTheirOwnShare) {
  const SloSplit split = split_slo(chain_of(3), std::vector{.1, .3, .6}, 1);
  ASSERT_EQ(split.groups.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(stages_of(split, i), (Stages{i}));
  EXPECT_DOUBLE_EQ(split.groups[1].share, .3);
}

// 0 → {1 → 2 | 3} → 4, weights 1, 2, 3, 4, 4: the region weighs 5 of 10.
TEST(SloSplit, ARegionEndsAGroupAndStandsAlone) {
  const auto tree = tree_of(series({stage(0), parallel({series({stage(1), stage(2)}), stage(3), empty()}), stage(4)}));
  const SloSplit split = split_slo(tree, std::vector{1., 2., 3., 4., 4.});
  const auto share = [&](Graph::Node s) { return split.groups[split.group_of[s]].share; };
  ASSERT_EQ(split.groups.size(), 4u);
  EXPECT_DOUBLE_EQ(share(0), .1);
  EXPECT_DOUBLE_EQ(share(1), .5);  // the whole region, for both of its stages
  EXPECT_EQ(split.group_of[1], split.group_of[2]);
  EXPECT_DOUBLE_EQ(share(3), .5);  // and again for the other branch
  EXPECT_DOUBLE_EQ(share(4), .4);
  EXPECT_DOUBLE_EQ(split.budget_ms(1, 900), 500);
  EXPECT_DOUBLE_EQ(split.budget_ms(2, 700), 300);
  EXPECT_DOUBLE_EQ(split.budget_ms(3, 800), 400);  // to the exit its own branch counts, not the heavier one
  EXPECT_DOUBLE_EQ(split.budget_ms(4, 400), 400);
}

TEST(SloSplit, ABranchLongerThanAGroupIsCut) {
  const auto tree = tree_of(parallel({series({stage(0), stage(1), stage(2)}), stage(3)}));
  const SloSplit split = split_slo(tree, std::vector{1., 1., 2., 1.}, 2);
  ASSERT_EQ(split.groups.size(), 3u);
  EXPECT_EQ(split.group_of[0], split.group_of[1]);
  EXPECT_DOUBLE_EQ(split.groups[split.group_of[0]].share, .5);
  EXPECT_DOUBLE_EQ(split.groups[split.group_of[2]].share, .5);
  EXPECT_DOUBLE_EQ(split.groups[split.group_of[3]].share, 1);
}

// Inside: 1 → 3, 1 → 4, 2 → 4, weights 3, 1, 1, 2; 0 before with 5. Heaviest paths through 1..4: 5, 3, 4, 5.
TEST(SloSplit, InAnIrregularRegionNoPathExceedsTheShare) {
  const auto region = irregular({stage(1), stage(2), stage(3), stage(4)}, {{1, 3}, {0, 3}, {0, 2}});
  const SloSplit split = split_slo(tree_of(series({stage(0), region})), std::vector{5., 3., 1., 1., 2.});
  const auto share = [&](Graph::Node s) { return split.groups[split.group_of[s]].share; };
  EXPECT_DOUBLE_EQ(share(0), .5);
  EXPECT_DOUBLE_EQ(share(1), .5 * 3 / 5);
  EXPECT_DOUBLE_EQ(share(2), .5 * 1 / 3);
  EXPECT_DOUBLE_EQ(share(3), .5 * 1 / 4);
  EXPECT_DOUBLE_EQ(share(4), .5 * 2 / 5);
  EXPECT_LE(share(2) + share(4), .5);
  EXPECT_DOUBLE_EQ(split.budget_ms(1, 500), 300);
  EXPECT_DOUBLE_EQ(split.budget_ms(2, 500), 500. / 3);
  EXPECT_DOUBLE_EQ(split.budget_ms(3, 200), 200);
}

TEST(SloSplit, EdgesOfARegionMayComeInAnyOrder) {
  const auto region = irregular({stage(0), stage(1), stage(2), stage(3)}, {{2, 3}, {0, 2}, {0, 1}, {1, 2}, {1, 3}});
  const SloSplit split = split_slo(tree_of(region), std::vector{1., 2., 3., 4.});
  for (std::uint32_t s = 0; s < 4; ++s) EXPECT_DOUBLE_EQ(split.groups[split.group_of[s]].share, (s + 1) / 10.);
  EXPECT_DOUBLE_EQ(split.budget_ms(1, 900), 200);
}

TEST(SloSplit, StagesThatRunNothingTakeNoTimeAndDivideNothingByZero) {
  const SloSplit split = split_slo(chain_of(2), std::vector{0., 0.}, 1);
  EXPECT_EQ(split.budget_ms(0, 100), 100);
  const SloSplit mixed = split_slo(chain_of(3), std::vector{0., 1., 0.}, 1);
  EXPECT_EQ(mixed.budget_ms(0, 100), 0);
  EXPECT_EQ(mixed.budget_ms(1, 100), 100);
  EXPECT_EQ(mixed.budget_ms(2, 100), 100);
}

TEST(SloSplit, KnowsWhichStagesAreNotInTheTree) {
  const SloSplit split = split_slo(tree_of(stage(1)), std::vector{1., 1., 1.});
  EXPECT_EQ(split.group_of, (std::vector<std::uint32_t>{SloSplit::kNone, 0, SloSplit::kNone}));
}

TEST(SloSplit, DeepTreesDoNotExhaustTheStack) {
  constexpr std::uint32_t kDepth = 20'000;
  SeriesParallelTree tree;
  tree.nodes.push_back({.kind = SeriesParallelTree::Kind::stage, .stage = 0});
  for (std::uint32_t i = 1; i < kDepth; ++i) {  // {i | everything before}
    const std::uint32_t inner = tree.root();
    tree.nodes.push_back({.kind = SeriesParallelTree::Kind::stage, .stage = i});
    tree.children.insert(tree.children.end(), {inner, inner + 1});
    tree.nodes.push_back({.kind = SeriesParallelTree::Kind::parallel,
                          .needed = 2,
                          .first_child = static_cast<std::uint32_t>(tree.children.size() - 2),
                          .child_count = 2});
  }
  EXPECT_EQ(split_slo(tree, std::vector<double>(kDepth, 1)).groups.size(), kDepth);
}

}  // namespace
}  // namespace sluice::plan
