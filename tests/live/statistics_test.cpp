// What is counted of applications and of the functions inside of them: Triton's statistics.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "live/live_server.h"

namespace sluice::live {
namespace {

class StatisticsTest : public testing::Test {
 protected:
  void deploy(const std::string& document) {
    const auto deployed = live_test::deploy(*platform_, document);
    ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  }
  AnswerKind call(const std::string& model) {
    return live_test::call(*platform_, {.application = model, .inputs = live_test::floats(*platform_, "x", {1})})
        .get()
        .kind;
  }
  ModelStats stats(const std::string& model) { return platform_->settled_snapshot()->find("default", model)->stats; }

  live_test::TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_ = std::move(Platform::start(live_test::options_in(folder_.path())).value());
};

TEST_F(StatisticsTest, AnApplicationCountsItsRequestsAndFunctionsTheirInvocations) {
  deploy(
      "application: a\nslo: 60s\nfunctions:\n"
      "  first: {runtime: emulated, profile: {table: [[1, 1, 0, 2.0, 0.0]]}}\n"
      "  second: {runtime: emulated, profile: {table: [[1, 1, 0, 3.0, 0.0]]}}\n"
      "workflow:\n  first: {}\n  again: {function: first, after: first}\n  second: {after: again}\n");
  for (int i = 0; i < 3; ++i) ASSERT_EQ(call("a"), AnswerKind::finished);
  const ModelStats whole = stats("a");
  EXPECT_EQ(whole.inferences, 3u);
  EXPECT_EQ(whole.executions, 3u);
  EXPECT_EQ(whole.success.count, 3u);
  EXPECT_GT(whole.last_inference_ms, 0);
  for (const Counted* counted : {&whole.queue, &whole.compute_input, &whole.compute_infer, &whole.compute_output})
    EXPECT_EQ(counted->count, 3u);
  ASSERT_EQ(whole.batches.size(), 1u);
  EXPECT_EQ(whole.batches[0].size, 1u);
  EXPECT_EQ(whole.batches[0].infer.count, 3u);

  const ModelStats first = stats("a.first"), second = stats("second");
  EXPECT_EQ(first.inferences, 6u);  // two stages
  EXPECT_EQ(first.executions, 6u);
  EXPECT_EQ(first.success.count, 6u);
  EXPECT_EQ(second.inferences, 3u);
  EXPECT_EQ(second.compute_infer.count, 3u);
  EXPECT_EQ(whole.compute_infer.ns, first.compute_infer.ns + second.compute_infer.ns);

  ASSERT_EQ(call("a.first"), AnswerKind::finished);
  EXPECT_EQ(stats("a.first").inferences, 7u);
  EXPECT_EQ(stats("a.first").success.count, 7u);  // not once for the batch and once for the answer
  EXPECT_EQ(stats("a").inferences, 3u);
}

TEST_F(StatisticsTest, WhatFailedIsNoInference) {
  deploy(
      "application: b\nslo: 60s\nfunctions:\n"
      "  good: {runtime: emulated, profile: {table: [[1, 1, 0, 1.0, 0.0]]}}\n"
      "  bad: {runtime: process, command: [sh, -c, \"while read line; do echo '{\\\"error\\\": \\\"No\\\"}' >&3; "
      "done\"], "
      "profile: {table: [[1, 1, 0, 5.0, 0.1]]}}\n"
      "workflow:\n  good: {}\n  bad: {after: good}\n");
  ASSERT_EQ(call("b"), AnswerKind::failed);
  EXPECT_EQ(stats("b").inferences, 0u);
  EXPECT_EQ(stats("b").executions, 0u);
  EXPECT_EQ(stats("b").fail.count, 1u);
  EXPECT_EQ(stats("good").inferences, 1u);
  EXPECT_EQ(stats("bad").inferences, 0u);
}

}  // namespace
}  // namespace sluice::live
