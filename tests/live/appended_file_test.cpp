#include "live/appended_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "live/live_server.h"

namespace sluice::live {
namespace {

constexpr std::uint64_t kMost = 64u << 20;

class AppendedFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.path() + "/file"; }
  [[nodiscard]] std::string content() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  // Of the file, in the memory of this process.
  [[nodiscard]] std::uint64_t mapped_kb() const {
    std::ifstream maps("/proc/self/smaps");
    bool ours = false;
    for (std::string line; std::getline(maps, line);) {
      if (line.find(path()) != std::string::npos) ours = true;
      if (ours && line.starts_with("Rss:")) return std::stoull(line.substr(4));
    }
    return 0;
  }
  live_test::TemporaryFolder folder_;
};

TEST_F(AppendedFileTest, HasWhatWasAppendedAndNoRoomOnceItIsClosed) {
  std::string all;
  {
    auto file = AppendedFile::create(path(), kMost).value();
    for (int i = 0; i < 3'000; ++i) {
      const std::string bytes(static_cast<std::size_t>(1 + i % 997), static_cast<char>('a' + i % 26));
      ASSERT_TRUE(file->append(bytes, 16));
      all += bytes;
      EXPECT_EQ(file->size(), all.size());
    }
  }
  EXPECT_EQ(content(), all);
}

// More addresses than there are stand for a file system that maps nothing.
TEST_F(AppendedFileTest, IsWrittenWhereItCannotBeMapped) {
  std::string all;
  {
    auto file = AppendedFile::create(path(), std::uint64_t{1} << 62).value();
    for (int i = 0; i < 100; ++i) {
      const std::string bytes(1'000, static_cast<char>('a' + i % 26));
      ASSERT_TRUE(file->append(bytes, 16));
      all += bytes;
    }
    EXPECT_FALSE(file->wants_room());
    EXPECT_EQ(content(), all);
  }
  EXPECT_EQ(content(), all);
}

TEST_F(AppendedFileTest, IsWholeWhileAnotherThreadMakesRoom) {
  auto file = AppendedFile::create(path(), kMost).value();
  std::atomic<bool> ended = false;
  std::thread maker([&] {
    while (!ended) {
      if (file->wants_room()) file->make_room();
    }
  });
  std::string all;
  for (int i = 0; i < 2'000; ++i) {
    const std::string bytes(10'000, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(file->append(bytes, 16));
    all += bytes;
  }
  ended = true;
  maker.join();
  file->make_room();
  EXPECT_LT(mapped_kb(), 4'000u);  // 20 MB were appended
  file->close();
  EXPECT_EQ(content(), all);
}

TEST_F(AppendedFileTest, KeepsWhatAProcessAppendedThatWasKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = AppendedFile::create(path(), kMost);
    if (!file || !(*file)->append("all of it", 4)) ::_exit(1);
    (void)::kill(::getpid(), SIGKILL);
  }
  int how = 0;
  ASSERT_EQ(::waitpid(child, &how, 0), child);
  ASSERT_TRUE(WIFSIGNALED(how));
  const std::string there = content();
  EXPECT_TRUE(there.starts_with("all of it"));
  EXPECT_EQ(there.find_first_not_of('\0', 9), std::string::npos);
}

TEST_F(AppendedFileTest, SaysThatThereIsNoRoomInsteadOfDying) {
  auto file = AppendedFile::create(path(), 300'000).value();
  ASSERT_TRUE(file->append(std::string(299'000, 'x'), 16));
  const Status refused = file->append(std::string(2'000, 'x'), 16);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("too large"), std::string::npos) << refused.error().message;
  EXPECT_EQ(file->size(), 299'000u);
  EXPECT_TRUE(file->append(std::string(1'000, 'x'), 16));
}

TEST_F(AppendedFileTest, ADiskThatIsNearlyFullGivesWhatItHas) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto file = AppendedFile::create(path(), kMost).value();
  rlimit little = before;
  little.rlim_cur = 1u << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  int appended = 0;
  while (appended < 10'000 && file->append(std::string(1'000, 'x'), 16)) ++appended;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_GT(appended, 200);
  EXPECT_LE(file->size(), 1u << 20);
}

TEST_F(AppendedFileTest, CannotBeMadeWhereThereIsNoFolder) {
  const auto file = AppendedFile::create(folder_.path() + "/none/file", kMost);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("none/file: No such file"), std::string::npos) << file.error().message;
}

}  // namespace
}  // namespace sluice::live
