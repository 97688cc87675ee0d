// The program itself: what `sluice plan` answers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "cli/folder.h"
#include "cli/program.h"

namespace {

using sluice::test::sluice;

const std::string kImage = "plan examples/esg/image_classification.yaml ";

// The number behind the first `"name": ` of a JSON text.
double number(const std::string& json, const std::string& name) {
  const std::size_t at = json.find("\"" + name + "\": ");
  return at == std::string::npos ? -1 : std::strtod(json.c_str() + at + name.size() + 4, nullptr);
}

TEST(Plan, FindsTheKnownBestPaths) {
  const auto one = sluice(kImage + "--slo 420.8ms --queue 1");
  EXPECT_EQ(one.status, 0);
  EXPECT_NE(one.output.find("super-resolution  1      2     1     "), std::string::npos) << one.output;
  EXPECT_NE(one.output.find("segmentation      1      2     2     "), std::string::npos) << one.output;
  EXPECT_NE(one.output.find("classification    1      2     1     "), std::string::npos) << one.output;
  const auto eight = sluice(kImage + "--slo 526ms --queue 8");
  EXPECT_NE(eight.output.find("super-resolution  8      16    7     "), std::string::npos) << eight.output;
  EXPECT_NE(eight.output.find("The deadline binds"), std::string::npos) << eight.output;
}

TEST(Plan, AllPlannersAgreeOnAChain) {
  const double frontier = number(sluice(kImage + "--queue 8 --json").output, "cost");
  EXPECT_GT(frontier, 0);
  for (const std::string planner : {"esg-1q", "label", "brute-force"}) {
    EXPECT_NEAR(number(sluice(kImage + "--queue 8 --json --planner " + planner).output, "cost"), frontier, 1e-12)
        << planner;
  }
}

TEST(Plan, SaysHowFastItCouldBeWhenItIsNotFeasible) {
  const auto run = sluice(kImage + "--slo 100ms --json");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.output.find("\"feasible\": false"), std::string::npos);
  EXPECT_GT(number(run.output, "fastest_ms"), 100);
  EXPECT_EQ(sluice(kImage + "--slo 0ms").status, 0);
  EXPECT_EQ(sluice(kImage + "--elapsed 10s").status, 0);
}

TEST(Plan, PlansDagsFromAnyStage) {
  const auto whole = sluice("plan examples/asl/photo_archive.yaml --json");
  EXPECT_EQ(whole.status, 0);
  EXPECT_NE(whole.output.find("\"stage\": \"each object/recognise\""), std::string::npos) << whole.output;
  EXPECT_NEAR(
      number(sluice("plan examples/asl/photo_archive.yaml --percentile 50 --queue 4 --json").output, "cost"),
      number(
          sluice("plan examples/asl/photo_archive.yaml --percentile 50 --queue 4 --json --planner brute-force").output,
          "cost"),
      1e-12);
  EXPECT_EQ(sluice("plan examples/asl/photo_archive.yaml --from caption").status, 0);
  EXPECT_EQ(sluice("plan examples/asl/photo_archive.yaml --from nowhere").status, 1);
}

TEST(Plan, ShowsMicrosecondsOfFastFunctions) {
  const sluice::test::Folder folder;
  const auto document = [](const std::string& second) {
    return "application: fast\nslo: {latency: 5ms}\nfunctions:\n"
           "  f: {runtime: emulated, memory: 1MB, profile: {table: [[1, 1, 0, 0.27, 0.01]]}}\n"
           "  g: {runtime: emulated, memory: 1MB, profile: {table: [[1, 1, 0, " +
           second + ", 0.01]]}}\nworkflow:\n  f: {}\n  g: {after: f}\n";
  };
  folder.write("fast.yaml", document("0.05"));
  folder.write("slower.yaml", document("3.0"));
  const std::string fast = sluice("plan " + folder.path("fast.yaml")).output;
  EXPECT_NE(fast.find("latency µs"), std::string::npos) << fast;
  EXPECT_NE(fast.find("  f         1      1     0     270.0 "), std::string::npos) << fast;
  EXPECT_NE(fast.find("  together                     320.0 "), std::string::npos) << fast;
  const std::string slower = sluice("plan " + folder.path("slower.yaml")).output;
  EXPECT_NE(slower.find("  f         1      1     0     0.27 "), std::string::npos) << slower;
  EXPECT_NE(slower.find("  together                     3.3 "), std::string::npos) << slower;
}

TEST(Plan, RefusesWhatItCannotDo) {
  EXPECT_EQ(sluice("plan examples/asl/photo_archive.yaml --planner label").status, 1);
  EXPECT_EQ(sluice("plan examples/esg/expanded_image_classification.yaml --planner brute-force --queue 32").status, 1);
  EXPECT_EQ(sluice("plan examples/cluster.yaml").status, 1);
  EXPECT_EQ(sluice(kImage + "--slo 526").status, 2);
  EXPECT_EQ(sluice(kImage + "--planner magic").status, 2);
  EXPECT_EQ(sluice("plan tests/cli/wrong/missing_unit.yaml").status, 1);
}

}  // namespace
