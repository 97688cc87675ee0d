#include "invoker/worker_log.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/text.h"

namespace sluice::invoker {
namespace {

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    out = wire::Descriptor(ends[0]);
    in = wire::Descriptor(ends[1]);
  }
  void print(const std::string& text) const {
    EXPECT_EQ(::write(in.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  wire::Descriptor out, in;
};

std::vector<std::string> read(WorkerLog& log, const Pipe& pipe, bool wanted = true) {
  std::vector<std::string> lines;
  EXPECT_TRUE(log.read(pipe.out, wanted, [&](const std::string& line) { lines.push_back(line); }));
  return lines;
}

std::string many_lines(std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += str("line ", i, "\n");
  return out;
}

TEST(WorkerLog, CutsLinesAndKeepsTheLast) {
  Pipe pipe;
  WorkerLog log;
  pipe.print("one\n" + std::string(1500, 'x') + "\nla");
  EXPECT_EQ(read(log, pipe), (std::vector<std::string>{"one", std::string(1000, 'x'), std::string(500, 'x')}));
  pipe.print("st");
  pipe.in.reset();
  EXPECT_TRUE(read(log, pipe).empty());
  log.end_line([](const std::string& line) { EXPECT_EQ(line, "last"); });
  EXPECT_EQ(log.last_line(), "last");
  EXPECT_FALSE(log.read(pipe.out, true, [](const std::string&) { FAIL(); }));  // it has ended
}

TEST(WorkerLog, OnlyTheLastOfLinesThatNobodyWantsIsLookedAt) {
  const Pipe pipe;
  WorkerLog log;
  pipe.print(many_lines(1000) + "and no end");
  EXPECT_EQ(read(log, pipe, false), std::vector<std::string>{"line 999"});
  EXPECT_EQ(log.last_line(), "line 999");
  pipe.print(" of it\n");
  EXPECT_EQ(read(log, pipe), std::vector<std::string>{"and no end of it"});
}

TEST(WorkerLog, RestsWhenAWorkerPrintsAllTheTime) {
  const Pipe pipe;
  WorkerLog log;
  const Time start = Time() + Duration::ms(1000);
  EXPECT_FALSE(log.pause(start));
  pipe.print("a word\n");
  (void)read(log, pipe);
  EXPECT_FALSE(log.pause(start + Duration::ms(1)));
  pipe.print(std::string(65536, 'x'));
  (void)read(log, pipe);
  const auto again = log.pause(start + Duration::ms(2));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, start + Duration::ms(10));
  EXPECT_FALSE(log.pause(*again));
}

}  // namespace
}  // namespace sluice::invoker
