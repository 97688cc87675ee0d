// The program itself: what `sluice reproduce` prints and leaves behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.h"

namespace {

using ::sluice::test::sluice;
namespace fs = std::filesystem;

const std::string kRun = "reproduce esg --setting strict-light --requests 60 ";

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class Reproduce : public ::testing::Test {
 protected:
  Reproduce() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Reproduce() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string in(const std::string& name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_ =
      fs::temp_directory_path() /
      ("sluice-reproduce-test-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(Reproduce, PrintsRowsInTheCommonShape) {
  const auto run = sluice(kRun + "--sweep k --streams 2 --json");
  ASSERT_EQ(run.status, 0) << run.output;
  const nlohmann::json printed = nlohmann::json::parse(run.output, nullptr, false);
  ASSERT_TRUE(printed.is_object()) << run.output;
  EXPECT_EQ(printed["paper"], "esg");
  ASSERT_FALSE(printed["rows"].empty());
  for (const nlohmann::json& row : printed["rows"]) EXPECT_EQ(row.size(), 8u);
}

TEST_F(Reproduce, LeavesRowsRequestsAndOnePageThatLoadsNothing) {
  const auto run = sluice(kRun + "--csv " + in("logs") + " --html " + in("page.html"));
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_NE(run.output.find("sluice-hits"), std::string::npos);
  const std::string requests = read(in("logs/hits-and-cost/strict-light/esg-tuned-seed1/requests.csv"));
  EXPECT_EQ(std::count(requests.begin(), requests.end(), '\n'), 1 + 60 + 60);
  EXPECT_EQ(read(in("logs/rows.csv")).rfind("experiment,setting,scheduler,metric,", 0), 0u);
  const std::string page = read(in("page.html"));
  for (const char* never : {"http://", "https://", " src=", "@import", "{{"}) {
    EXPECT_EQ(page.find(never), std::string::npos) << never;
  }
}

TEST_F(Reproduce, ReadsOtherProfiles) {
  std::ofstream(in("deblur.csv")) << "batch,vcpu,vgpu,mean_ms,sd_ms\n1,1,1,50,1\n";
  EXPECT_EQ(
      sluice("reproduce esg --setting strict-light --requests 20 --sweep k --streams 1 --profile " + in("")).status, 0);
  std::ofstream(in("deblur.csv")) << "batch,vcpu\n";
  const auto wrong = sluice(kRun + "--profile " + in(""));
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.output.find("deblur.csv:1:"), std::string::npos) << wrong.output;
  EXPECT_EQ(sluice(kRun + "--profile " + in("none")).status, 1);
}

TEST_F(Reproduce, SaysWhatItDoesNotKnow) {
  auto run = sluice("reproduce esg --setting strict");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("there is no setting 'strict'"), std::string::npos) << run.output;
  run = sluice("reproduce orion");
  EXPECT_EQ(run.status, 2);
  run = sluice(kRun + "--html " + in("none/page.html"));
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("No such file or directory"), std::string::npos) << run.output;
}

}  // namespace
