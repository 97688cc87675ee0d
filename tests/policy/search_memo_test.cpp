// A memo changes nothing: what it answers is the search itself on the budget rounded down to 1 ms, counts included.
#include "policy/search_memo.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "plan/rivals/orion.h"
#include "policy/esg_search.h"
#include "policy/orion_planner.h"
#include "support/esg_profile.h"
#include "support/tree_builder.h"

namespace sluice::policy {
namespace {

Queue queue_of(const esg_profile::Application& application, std::uint32_t stage) {
  plan::WorkflowModel model;
  for (plan::Candidates& candidates : application.candidates())
    model.stages.push_back({.candidates = std::move(candidates)});
  model.tree = tree_builder::chain_of(static_cast<std::uint32_t>(model.stages.size()));
  return {.id = QueueId(stage), .model = std::make_shared<plan::WorkflowModel>(std::move(model)), .model_stage = stage};
}

TEST(SearchMemo, StartsAnewWhenFull) {
  SearchMemo<int> memo(2);
  memo.put({QueueId(0), 1, 10}, 1);
  memo.put({QueueId(0), 1, 11}, 2);
  EXPECT_EQ(*memo.find({QueueId(0), 1, 10}), 1);
  EXPECT_EQ(memo.put({QueueId(1), 1, 10}, 3), 3);
  EXPECT_EQ(memo.size(), 1u);
  EXPECT_EQ(memo.find({QueueId(0), 1, 10}), nullptr);
  EXPECT_EQ(memo.find({QueueId(1), 2, 10}), nullptr);
}

TEST(SearchMemo, RoundsDownAndTakesAllThatIsOverdueAsOne) {
  EXPECT_EQ(whole_ms(12.9), 12);
  EXPECT_EQ(whole_ms(0), 0);
  EXPECT_EQ(whole_ms(-0.1), -1);
  EXPECT_EQ(whole_ms(-1234.5), -1);
}

TEST(SearchMemo, AnswersEsgAsTheSearchOnTheRoundedBudget) {
  const auto application = esg_profile::image_classification();
  const std::vector<Queue> queues{queue_of(application, 0), queue_of(application, 1), queue_of(application, 2)};
  EsgSearch memo({.memo_max = 20}), plain({.memo = false});  // small: it starts anew several times
  Rng rng(7);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    const Queue& queue = queues[rng.below(3)];
    const plan::BatchCap cap = memo.model(queue).cap(queue.model_stage, 1 + rng.below(3));
    const double budget = rng.uniform(-5, 5) + 100.0 * static_cast<double>(rng.below(7));
    const EsgAnswer answer = memo.find(queue, cap, budget);
    EXPECT_EQ(answer, plain.find(queue, cap, std::floor(budget)));
    EXPECT_EQ(answer, memo.find(queue, cap, budget));
    found += answer.firsts.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 50);
  EXPECT_LT(found, 300);
}

TEST(SearchMemo, AnswersOrionAsTheSearchOnTheRoundedBudget) {
  const auto application = esg_profile::depth_recognition();
  const Queue queue = queue_of(application, 0);
  const plan::OrionOptions search{.states_max = 300};
  OrionPlanner memo({.search = search, .memo_max = 10}), plain({.search = search, .memo = false});
  Rng rng(8);
  int feasible = 0;
  for (int i = 0; i < 200; ++i) {
    const std::size_t waiting = 1 + rng.below(5);
    double budget = rng.uniform(-3, 3) + 200.0 * static_cast<double>(rng.below(8));
    if (rng.chance(0.5)) budget = plain.find(queue, waiting, budget).p95_ms;  // where a fraction decides
    const plan::OrionPlan answer = memo.find(queue, waiting, budget);
    EXPECT_EQ(answer, plain.find(queue, waiting, std::floor(budget)));
    EXPECT_EQ(answer, memo.find(queue, waiting, budget));
    feasible += answer.feasible ? 1 : 0;
  }
  EXPECT_GT(feasible, 20);
  EXPECT_LT(feasible, 200);
}

}  // namespace
}  // namespace sluice::policy
