// What is written for replay and for the next start: segments with their saves, bounded; what was learned.
#include <gtest/gtest.h>

#include <poll.h>

#include <filesystem>
#include <iterator>
#include <thread>

#include "base/text.h"
#include "data/clock.h"
#include "live/branch_text.h"
#include "live/event_log.h"
#include "live/live_server.h"
#include "support/eventually.h"
#include "support/forbidden.h"

namespace sluice::live {
namespace {

namespace fs = std::filesystem;
using live_test::call;
using live_test::deploy;
using live_test::floats;

constexpr const char* kQuick = R"(
application: quick
slo: {latency: 20s}
functions:
  f: {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 0.5, 0.01]]}}
workflow: {f: {}}
)";

class LogTest : public testing::Test {
 protected:
  void start(std::uint64_t segment_bytes, std::uint64_t bytes_max = 1u << 30) {
    platform_.reset();
    PlatformOptions options = live_test::options_in(folder_.path());
    options.log_segment_bytes = segment_bytes;
    options.log_bytes_max = bytes_max;
    platform_ = std::move(Platform::start(options).value());
  }
  void serve(const std::string& application, int count) {
    for (int i = 0; i < count; ++i) {
      const Answer answer =
          call(*platform_, {.application = application, .inputs = floats(*platform_, "x", {1})}).get();
      ASSERT_EQ(answer.kind, AnswerKind::finished) << answer.error;
    }
  }
  [[nodiscard]] std::string events() const { return folder_.path() + "/events"; }
  [[nodiscard]] std::vector<fs::path> logs() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(events())) {
      if (entry.path().extension() == ".log") out.push_back(entry.path());
    }
    return out;
  }
  // Ends the server and starts another one on its data: the last event of a kind that the new scheduler saw.
  template <class Kind>
  [[nodiscard]] std::optional<Kind> last_told_after_a_restart() {
    start(1u << 20);
    platform_.reset();
    std::optional<Kind> out;
    std::ifstream in(events() + "/events-2-0.log", std::ios::binary);
    auto reader = record::LogReader::open(in);
    while (reader.ok()) {
      const auto record = reader->next();
      if (!record || !*record) break;
      const auto* observed = std::get_if<record::Observed>(&**record);
      const auto* event = observed == nullptr ? nullptr : std::get_if<Kind>(&observed->event);
      if (event != nullptr) out = *event;
    }
    return out;
  }
  live_test::TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_;
};

Result<record::Replayed> replay_segment(const fs::path& log) {
  std::ifstream in(log, std::ios::binary);
  auto reader = record::LogReader::open(in);
  if (!reader) return reader.error();
  auto scheduler = record::make_scheduler(reader->header());
  if (!scheduler) return scheduler.error();
  if (reader->header().begins_with != 0) {
    std::ifstream saved(fs::path(log).replace_extension(".save"), std::ios::binary);
    const std::string save{std::istreambuf_iterator<char>(saved), std::istreambuf_iterator<char>()};
    if (const Status loaded = record::load_save(reader->header(), save, **scheduler); !loaded) return loaded.error();
  }
  return record::replay(*reader, **scheduler);
}

TEST_F(LogTest, EverySegmentReplaysFromItsSave) {
  start(16u << 10);
  ASSERT_TRUE(deploy(*platform_, kQuick).ok());
  serve("quick", 200);
  platform_.reset();
  const auto segments = logs();
  EXPECT_GE(segments.size(), 3u);
  for (const fs::path& log : segments) {
    const auto replayed = replay_segment(log);
    ASSERT_TRUE(replayed.ok()) << log << ": " << replayed.error().message;
    EXPECT_FALSE(replayed->difference.has_value()) << log;
  }
}

// A disk may keep whoever writes waiting: here the system lets the thread that runs the scheduler write no file at all.
TEST_F(LogTest, TheThreadThatRunsTheSchedulerWritesNoFiles) {
  start(16u << 10);
  ASSERT_TRUE(deploy(*platform_, kQuick).ok());
  bool forbidden = false;
  int finished = 0;
  std::thread([&] {
    forbidden = test::forbid(test::kWrites);
    bool asked = false;
    platform_->lend([&] { asked = true; });
    for (int i = 0; i < 200 && forbidden; ++i) {
      bool answered = false;
      platform_->call({.application = "quick", .inputs = floats(*platform_, "x", {1})}, [&](const Answer& answer) {
        answered = true;
        finished += answer.kind == AnswerKind::finished ? 1 : 0;
      });
      while (!answered) {
        pollfd readable{.fd = platform_->descriptor(), .events = POLLIN, .revents = 0};
        if (!asked && ::poll(&readable, 1, 30'000) != 1) return;
        asked = false;
        platform_->work();
      }
    }
  }).join();
  if (!forbidden) GTEST_SKIP() << "no system call can be forbidden here";
  EXPECT_EQ(finished, 200);
  platform_->take_back();
  platform_.reset();
  EXPECT_GE(logs().size(), 3u);
  for (const fs::path& log : logs()) {
    const auto replayed = replay_segment(log);
    ASSERT_TRUE(replayed.ok()) << log << ": " << replayed.error().message;
    EXPECT_FALSE(replayed->difference.has_value()) << log;
  }
}

// A log has room for a megabyte once it is open, and gets more when half of that is used.
TEST_F(LogTest, TheThreadThatLogsMakesNoRoomForIt) {
  constexpr std::size_t kRoom = 1u << 20, kRecord = 64u << 10;
  auto log = EventLog::open({.directory = folder_.path(), .epoch = 1}, {.scheduler = "sluice"});
  ASSERT_TRUE(log.ok());
  const auto size = [&] { return fs::file_size(folder_.path() + "/events-1-0.log"); };
  ASSERT_TRUE(test::eventually([&] { return size() >= kRoom; }));
  const std::uintmax_t before = size();
  bool forbidden = false, grown = false;
  std::thread([&] {
    forbidden = test::forbid({test::kMakesRoom, test::kPopulates});
    for (std::size_t bytes = 0; bytes < kRoom; bytes += kRecord) {
      log->observed(BatchFailed{.id = BatchId(1), .error = std::string(kRecord, 'x')}, Time());
      EXPECT_TRUE(log->flush().ok());
    }
    grown = test::eventually([&] {
      log->observed(BatchFailed{.id = BatchId(1)}, Time());
      return !log->flush().ok() || size() > before;
    });
  }).join();
  if (!forbidden) GTEST_SKIP() << "no system call can be forbidden here";
  EXPECT_TRUE(grown);
  EXPECT_GT(size(), before);
}

TEST_F(LogTest, ASaveOfAnotherSegmentIsRefused) {
  start(16u << 10);
  ASSERT_TRUE(deploy(*platform_, kQuick).ok());
  serve("quick", 200);
  platform_.reset();
  ASSERT_TRUE(fs::exists(events() + "/events-1-2.save"));
  fs::copy_file(events() + "/events-1-1.save", events() + "/events-1-2.save", fs::copy_options::overwrite_existing);
  EXPECT_FALSE(replay_segment(events() + "/events-1-2.log").ok());
}

TEST_F(LogTest, LogsOfAllStartsTogetherAreBounded) {
  constexpr std::uint64_t kSegment = 16u << 10, kMax = 128u << 10;
  for (int life = 0; life < 3; ++life) {
    start(kSegment, kMax);
    if (life == 0) {
      ASSERT_TRUE(deploy(*platform_, kQuick).ok());
    }
    serve("quick", 300);
  }
  platform_.reset();
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(events())) bytes += entry.file_size();
  EXPECT_LT(bytes, kMax + 4 * kSegment);
  EXPECT_FALSE(fs::exists(events() + "/events-1-0.log"));
  for (const fs::path& log : logs()) EXPECT_TRUE(replay_segment(log).ok()) << log;
}

// The machine's clock was set back by an hour between two starts.
TEST_F(LogTest, TimeDoesNotGoBackOverARestart) {
  fs::create_directories(events());
  const Time before = data::now() + Duration::s(3600);
  std::string bytes;
  record::LogWriter writer(bytes);
  writer.header({.scheduler = "sluice"});
  writer.decided({.at = before});
  std::ofstream(events() + "/events-0-0.log", std::ios::binary) << bytes;
  start(1u << 20);
  EXPECT_GE(data::now(), before);
  ASSERT_TRUE(deploy(*platform_, kQuick).ok());
  serve("quick", 3);
  platform_.reset();
  EXPECT_GE(last_instant(events()), before);
}

// A function that takes ten times what its document says.
TEST_F(LogTest, WhatWasLearnedIsThereAfterARestart) {
  constexpr const char* kSlow = R"(
application: slow
slo: {latency: 20s}
functions:
  f:
    runtime: process
    command: [sh, -c, "while read line; do sleep 0.03; echo '{\"x\": [7.0]}' >&3; done"]
    memory: 10MB
    profile: {table: [[1, 1, 0, 3.0, 0.1]]}
workflow: {f: {}}
)";
  start(1u << 20);
  ASSERT_TRUE(deploy(*platform_, kSlow).ok());
  serve("slow", 30);
  const auto changed = last_told_after_a_restart<ProfileChanged>();
  ASSERT_TRUE(changed.has_value());
  const double told_ms = std::get<ProfileTable>(*changed->profile).rows.at(0).mean_ms;
  EXPECT_GT(told_ms, 15);
}

// A condition that never holds: plans count it as it is.
TEST_F(LogTest, BranchesAreKnownAfterARestart) {
  constexpr const char* kForking = R"(
application: forking
slo: {latency: 20s}
functions:
  f: {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 0.5, 0.01]]}}
workflow:
  first: {function: f}
  rare: {function: f, after: first, when: {request.x: '> 2'}}
)";
  start(1u << 20);
  const auto deployed = deploy(*platform_, kForking);
  ASSERT_TRUE(deployed.ok()) << deployed.error().message;
  serve("forking", 20);
  const auto known = last_told_after_a_restart<BranchesKnown>();
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->shares, (std::map<std::string, double>{{"rare", 0}}));
}

TEST(BranchText, IsReadAsItWasWritten) {
  const BranchesKnown known{ApplicationId(), {{"a b", 0.25}, {"each/c", 1}}, {{"each", 7.5}}};
  const BranchesKnown read = branches_of(branch_text(known));
  EXPECT_EQ(read.shares, known.shares);
  EXPECT_EQ(read.items, known.items);
}

TEST(BranchText, LeavesOutWhatItIsNot) {
  const BranchesKnown read =
      branches_of("share 2 a\nshare nan b\nitems -1 c\nshare 0.5\n\nother 1 d\nitems x e\nshare 0.5 f");
  EXPECT_EQ(read.shares, (std::map<std::string, double>{{"f", 0.5}}));
  EXPECT_TRUE(read.items.empty());
}

}  // namespace
}  // namespace sluice::live
