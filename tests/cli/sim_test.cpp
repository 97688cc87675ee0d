// The program itself: what `sluice sim` leaves behind.
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

const std::string kRun = "sim examples/esg/moderate_heavy.yaml --requests 300 ";

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class Sim : public ::testing::Test {
 protected:
  Sim() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Sim() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string in(const std::string& name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_ =
      fs::temp_directory_path() /
      ("sluice-sim-test-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

// What stands in the script element of the data.
nlohmann::json data_of(const std::string& page) {
  const std::string open = "<script id=\"data\" type=\"application/json\">";
  const std::size_t begin = page.find(open);
  const std::size_t end = page.find("</script>", begin);
  if (begin == std::string::npos || end == std::string::npos) return nlohmann::json::value_t::discarded;
  return nlohmann::json::parse(page.substr(begin + open.size(), end - begin - open.size()), nullptr, false);
}

TEST_F(Sim, WritesAFolderOfLogsPerSchedulerAndSeed) {
  const auto run = sluice(kRun + "--scheduler sluice,esg --repeat 2 --csv " + in("logs"));
  EXPECT_EQ(run.status, 0) << run.output;
  for (const char* name : {"sluice-seed1", "sluice-seed2", "esg-seed1", "esg-seed2"}) {
    const std::string requests = read(in("logs") + "/" + name + "/requests.csv");
    EXPECT_EQ(std::count(requests.begin(), requests.end(), '\n'), 1 + 300 + 2'000) << name;
    EXPECT_EQ(read(in("logs") + "/" + name + "/actions.csv").rfind("t,action_id,action_type,", 0), 0u) << name;
  }
}

TEST_F(Sim, TheReportIsOnePageThatLoadsNothing) {
  const auto run = sluice(kRun + "--scheduler sluice,esg,fifo --html " + in("report.html"));
  EXPECT_EQ(run.status, 0) << run.output;
  const std::string page = read(in("report.html"));
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
  EXPECT_EQ(page.find(" src="), std::string::npos);
  EXPECT_EQ(page.find("@import"), std::string::npos);
  EXPECT_EQ(page.find("{{"), std::string::npos);
  const nlohmann::json data = data_of(page);
  ASSERT_TRUE(data.is_object());
  EXPECT_EQ(data["experiment"], "moderate-heavy");
  ASSERT_EQ(data["schedulers"].size(), 3u);
  for (const nlohmann::json& scheduler : data["schedulers"]) {
    EXPECT_EQ(scheduler["requests"], 300);
    EXPECT_EQ(scheduler["window"]["requests"].size(), 300u);
    EXPECT_EQ(scheduler["figures"].size(), data["schedulers"][0]["figures"].size());
  }
}

TEST_F(Sim, ALongRunStillGivesASmallPage) {
  const auto run = sluice("sim examples/esg/moderate_heavy.yaml --requests 20000 --scheduler sluice,fifo --html " +
                          in("report.html"));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_LT(fs::file_size(in("report.html")), 5'000'000u);
  const nlohmann::json data = data_of(read(in("report.html")));
  EXPECT_LE(data["schedulers"][0]["window"]["requests"].size(), 3'000u);
  EXPECT_GE(data["schedulers"][0]["window"]["requests"].size(), 1'000u);
}

// One folder of experiments that cannot run; regenerate.sh writes what they print.
TEST(WrongExperiments, AreRefusedBeforeTheFirstEventWithFileAndLine) {
  std::size_t seen = 0;
  for (const auto& entry : fs::directory_iterator("tests/cli/wrong_sim")) {
    if (entry.path().extension() != ".yaml") continue;
    ++seen;
    const auto run = sluice("sim " + entry.path().string());
    EXPECT_EQ(run.status, 1) << entry.path();
    EXPECT_EQ(run.output, read(fs::path(entry.path()).replace_extension(".expected"))) << entry.path();
  }
  EXPECT_GE(seen, 12u);
}

TEST_F(Sim, SaysWhatItCannotWrite) {
  std::ofstream(in("file")) << "not a folder";
  auto run = sluice(kRun + "--csv " + in("file"));
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("cannot make the folder '"), std::string::npos) << run.output;
  run = sluice(kRun + "--html " + in("none/report.html"));
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("No such file or directory"), std::string::npos) << run.output;
  run = sluice(kRun + "--scheduler sluice,sluice --csv " + in("logs"));
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("names one twice"), std::string::npos) << run.output;
}

TEST_F(Sim, SaysThatTheDiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  fs::create_directories(in("logs/sluice-seed1"));
  fs::create_symlink("/dev/full", in("logs/sluice-seed1/actions.csv"));
  auto run = sluice(kRun + "--scheduler sluice --csv " + in("logs"));
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("actions.csv': No space left on device"), std::string::npos) << run.output;
  fs::create_symlink("/dev/full", in("report.html"));
  run = sluice(kRun + "--scheduler sluice --html " + in("report.html"));
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("report.html': No space left on device"), std::string::npos) << run.output;
}

}  // namespace
