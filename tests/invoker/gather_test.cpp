// Tensors move between stages without being copied as long as batches stay together.
#include <gtest/gtest.h>

#include "invoker/scene.h"
#include "support/places.h"

namespace sluice::invoker_test {
namespace {

constexpr const char* kChain = R"(
application: chain
slo: 1s
functions:
  first:  {runtime: emulated, profile: {table: [[4, 1, 0, 1.0, 0.0]]}}
workflow:
  a: {function: first}
  b: {function: first, after: a}
)";

class GatherTest : public testing::Test {
 protected:
  GatherTest() : scene_(application_of(kChain), options()) {
    scene_.load();
    EXPECT_TRUE(scene_.next<InstanceLoaded>().has_value());
  }
  static invoker::AgentOptions options() {
    invoker::AgentOptions out;
    out.spawner.worker = test::worker_program();
    return out;
  }
  std::vector<RequestId> first(std::uint32_t rows) {
    std::vector<RequestId> requests = scene_.start(rows).requests;
    finish();
    return requests;
  }
  void second(const std::vector<RequestId>& requests) {
    scene_.start_stage(StageId(1), requests);
    finish();
  }
  void finish() {
    const auto finished = scene_.next<BatchFinished>();
    ASSERT_TRUE(finished.has_value());
    for (const InvocationResult& result : finished->results) EXPECT_EQ(result.error, "");
  }
  [[nodiscard]] std::uint64_t gathers() { return scene_.agent().counters().gathers; }
  [[nodiscard]] std::uint64_t bytes() { return scene_.agent().counters().bytes_gathered; }
  Scene scene_;
};

TEST_F(GatherTest, ABatchThatStaysTogetherCopiesNothing) {
  const auto requests = first(4);
  const std::uint64_t before = gathers();  // what callers brought lies apart
  EXPECT_EQ(before, 1u);
  EXPECT_EQ(bytes(), 4u);
  second(requests);
  EXPECT_EQ(gathers(), before);
  EXPECT_EQ(bytes(), 4u);
}

TEST_F(GatherTest, PartOfABatchInItsOrderCopiesNothing) {
  const auto requests = first(4);
  second({requests[1], requests[2]});
  second({requests[3]});
  EXPECT_EQ(gathers(), 1u);
}

TEST_F(GatherTest, MembersOfDifferentBatchesAreCopiedTogether) {
  const auto one = first(2), other = first(2);
  const std::uint64_t before = gathers();
  second({one[0], one[1], other[0]});
  EXPECT_EQ(gathers(), before + 1);
  EXPECT_EQ(bytes(), 4u + 3u);
}

TEST_F(GatherTest, ABatchOfOneCopiesNothing) {
  second(first(1));
  EXPECT_EQ(gathers(), 0u);
  EXPECT_EQ(bytes(), 0u);
}

}  // namespace
}  // namespace sluice::invoker_test
