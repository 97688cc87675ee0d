#include "policy/batch_wait.h"

#include <gtest/gtest.h>

#include "support/tree_builder.h"

namespace sluice::policy {
namespace {

// One stage: alone 1 dollar a request, two together half of it, 100 ms either way; a miss costs 20.
plan::ValueTable table() {
  plan::WorkflowModel model;
  model.tree = tree_builder::tree_of(tree_builder::stage(0));
  plan::ModelStage stage{.name = "s"};
  stage.candidates = {{configuration(1, 1, 1), 100, 1}, {configuration(2, 1, 1), 100, 0.5}};
  stage.sd_ms = {0, 0};
  model.stages.push_back(stage);
  return plan::ValueTable::build(model, {.miss_price = 20, .horizon_ms = 400});
}

const std::vector<plan::BatchCap> kBatches{1, 2};

TEST(BatchWait, WaitsWhileThereIsTimeAndSomebodyMayCome) {
  const auto values = table();
  const BatchWait often(values, 0, 400, 1 / 50.0, kBatches);
  EXPECT_GT(often.gain(1, 0), 0.2);
  EXPECT_EQ(often.gain(1, 310), 0);         // waiting longer would miss
  EXPECT_EQ(often.gain(2, 0), 0);           // a full batch has nothing to wait for
  EXPECT_GT(often.until_ms(1, 0, 0), 250);  // to the last moment: starting alone is dear
  EXPECT_LE(often.until_ms(1, 0, 0), 300 + 400 / 96.0);
}

TEST(BatchWait, DoesNotWaitForThoseWhoHardlyCome) {
  const auto values = table();
  const BatchWait rarely(values, 0, 400, 1e-9, kBatches);
  EXPECT_LT(rarely.gain(1, 0), 1e-4);
}

TEST(BatchWait, TakesAnyRate) {
  const auto values = table();
  const BatchWait flood(values, 0, 400, 1e6, kBatches);  // a burst at one instant looks like this
  EXPECT_GT(flood.gain(1, 0), 0.4);
}

TEST(BatchWait, GainsFallWithTheRate) {
  const auto values = table();
  double before = 1;
  for (const double gap : {20.0, 100.0, 500.0, 2500.0}) {
    const double gain = BatchWait(values, 0, 400, 1 / gap, kBatches).gain(1, 0);
    EXPECT_LT(gain, before);
    before = gain;
  }
}

TEST(BatchWait, StopsEarlierWhenWaitingMustSaveMore) {
  const auto values = table();
  const BatchWait rule(values, 0, 400, 1 / 100.0, kBatches);
  EXPECT_LE(rule.until_ms(1, 0, 0.3), rule.until_ms(1, 0, 0.1));
  EXPECT_EQ(rule.until_ms(1, 0, 1), 0);
}

}  // namespace
}  // namespace sluice::policy
