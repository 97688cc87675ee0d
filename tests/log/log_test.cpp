// The log as its writers and readers see it: in order, bounded, never in the way.
#include "log/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "base/text.h"

namespace sluice::log {
namespace {

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice-log-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] static std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> out;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
  std::string folder_;
};

TEST_F(LogTest, LinesAreInTheFileInTheOrderInWhichTheyWereWritten) {
  auto log = std::move(Log::open({.format = Format::plain, .file = file("log")}).value());
  for (int i = 0; i < 100; ++i) log->write({.component = "server", .text = std::to_string(i)});
  log.reset();
  const auto lines = lines_of(file("log"));
  ASSERT_EQ(lines.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(lines[static_cast<std::size_t>(i)], std::to_string(i));
}

TEST_F(LogTest, LowerLevelsAreNotWritten) {
  auto log =
      std::move(Log::open({.format = Format::plain, .least = Remark::Level::warning, .file = file("log")}).value());
  for (const auto level : {Remark::Level::debug, Remark::Level::info, Remark::Level::warning, Remark::Level::error}) {
    log->write({.level = level, .component = "server", .text = std::string(name_of(level))});
  }
  log.reset();
  EXPECT_EQ(lines_of(file("log")), (std::vector<std::string>{"warning", "error"}));
}

TEST_F(LogTest, AFileThatCannotBeOpenedIsAnErrorWithItsName) {
  const auto log = Log::open({.file = file("no/such/folder/log")});
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().message.find("no/such/folder/log"), std::string::npos) << log.error().message;
}

TEST_F(LogTest, ReopenedItWritesToTheNewFileOfItsName) {
  auto log = std::move(Log::open({.format = Format::plain, .file = file("log")}).value());
  log->write({.component = "server", .text = "before"});
  while (lines_of(file("log")).empty()) std::this_thread::yield();
  std::filesystem::rename(file("log"), file("log.1"));
  log->reopen();
  log->write({.component = "server", .text = "after"});
  log.reset();
  EXPECT_EQ(lines_of(file("log.1")), std::vector<std::string>{"before"});
  EXPECT_EQ(lines_of(file("log")), std::vector<std::string>{"after"});
}

TEST_F(LogTest, WhereTheFileCannotBeOpenedAgainTheOldOneStaysAndSaysSo) {
  auto log = std::move(Log::open({.format = Format::plain, .file = file("log")}).value());
  log->write({.component = "server", .text = "before"});
  while (lines_of(file("log")).empty()) std::this_thread::yield();
  std::filesystem::rename(file("log"), file("log.1"));
  std::filesystem::create_directory(file("log"));
  log->reopen();
  log->write({.component = "server", .text = "after"});
  log.reset();
  const auto lines = lines_of(file("log.1"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[1].find("cannot be opened again"), std::string::npos) << lines[1];
  EXPECT_EQ(lines[2], "after");
}

// A pipe that nobody reads stands for a disk or a terminal that stands still. If writers waited, this would hang.
TEST_F(LogTest, WritersNeverWaitAndWhatWasDroppedIsCounted) {
  constexpr std::size_t kWritten = 20'000;
  const std::string pipe = file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  auto log = std::move(Log::open({.format = Format::plain, .file = pipe, .queue_max = 64}).value());
  const std::string text(100, 'x');
  for (std::size_t i = 0; i < kWritten; ++i) log->write({.component = "server", .text = text});
  std::string read;
  std::thread reads([&] {
    (void)::fcntl(reader, F_SETFL, 0);
    std::string part(64u << 10, '\0');
    for (ssize_t got = 0; (got = ::read(reader, part.data(), part.size())) > 0;)
      read.append(part, 0, static_cast<std::size_t>(got));
  });
  log->write({.component = "server", .text = "the last one"});  // says what is missing
  log.reset();
  reads.join();
  ::close(reader);
  std::size_t whole = 0, dropped = 0;
  std::istringstream lines(read);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, std::regex("([0-9]+) lines were dropped: .*"))) {
      dropped += std::stoul(found[1]);
    } else {
      ++whole;
    }
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(whole + dropped, kWritten + 1);
}

}  // namespace
}  // namespace sluice::log
