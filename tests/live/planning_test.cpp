// Plans are made where nobody waits for them: not by the thread that runs the scheduler.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "base/text.h"
#include "live/live_server.h"

namespace sluice::live {
namespace {

using live_test::call;
using live_test::deploy;
using live_test::floats;

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The functions of ESG's evaluation, loaded at once.
std::string esg_functions() {
  std::istringstream lines(content_of("examples/esg/functions.yaml"));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("cold_start:") == std::string::npos) out += line + '\n';
  }
  return out;
}

// It takes 20 ms and says 2.
constexpr const char* kSlower = R"(
application: slower
slo: {latency: 20s}
functions:
  f:
    runtime: process
    command: [sh, -c, "while read line; do sleep 0.02; echo '{\"x\": [7.0]}' >&3; done"]
    profile: {table: [[1, 1, 0, 2.0, 0.01]]}
workflow: {f: {}}
)";

class PlanningTest : public testing::Test {
 protected:
  void start() {
    PlatformOptions options = live_test::options_in(folder_.path());
    options.nodes = {{.count = 2, .vcpu = 16, .memory = Bytes::gb(64), .gpus = 1, .slices_per_gpu = 7},
                     {.vcpu = 4, .memory = Bytes::gb(8)}};
    platform_ = std::move(Platform::start(options).value());
  }
  void serve(const std::string& application, int count = 1) {
    for (int i = 0; i < count; ++i) {
      const Answer answer =
          call(*platform_, {.application = application, .inputs = floats(*platform_, "x", {1})}).get();
      ASSERT_EQ(answer.kind, AnswerKind::finished) << answer.error;
    }
  }
  [[nodiscard]] std::uint64_t planned_by_scheduler() { return platform_->settled_snapshot()->planned_here; }
  // How many plans of something that was learned the first log tells of.
  [[nodiscard]] std::size_t plans_in_log() const {
    std::ifstream log(folder_.path() + "/events/events-1-0.log", std::ios::binary);
    auto reader = record::LogReader::open(log);
    std::size_t out = 0;
    for (auto record = reader->next(); record && *record; record = reader->next()) {
      const auto* observed = std::get_if<record::Observed>(&**record);
      out += observed != nullptr && std::holds_alternative<PlansMade>(observed->event) ? 1 : 0;
    }
    return out;
  }

  live_test::TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_;
};

TEST_F(PlanningTest, NothingIsPlannedByTheSchedulersThread) {
  start();
  for (const std::string name : {"image_classification", "depth_recognition"}) {
    const auto deployed =
        deploy(*platform_, content_of(str("examples/esg/", name, ".yaml")), {{"functions.yaml", esg_functions()}});
    ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  }
  serve("image-classification");
  serve("depth-recognition");
  serve("segmentation");  // a function alone
  EXPECT_EQ(planned_by_scheduler(), 0u);
  ASSERT_TRUE(deploy(*platform_, kSlower).ok());
  serve("slower", 40);
  EXPECT_EQ(planned_by_scheduler(), 0u);
  platform_.reset();
  EXPECT_GE(plans_in_log(), 1u);
  const auto replayed = live_test::replay_in(folder_.path());  // makes all plans itself
  ASSERT_TRUE(replayed.ok()) << replayed.error().message;
  EXPECT_FALSE(replayed->difference.has_value());
  EXPECT_GT(replayed->commands, 40u);
}

TEST_F(PlanningTest, WhatIsThereAgainAfterARestartIsPlannedBeforeItServes) {
  start();
  const auto deployed =
      deploy(*platform_, content_of("examples/esg/image_classification.yaml"), {{"functions.yaml", esg_functions()}});
  ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  platform_.reset();
  start();
  serve("image-classification");
  EXPECT_EQ(planned_by_scheduler(), 0u);
}

}  // namespace
}  // namespace sluice::live
