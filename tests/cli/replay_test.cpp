// What `sluice replay` prints for logs that are whole, torn, changed and no logs at all.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/program.h"
#include "record/recording.h"

namespace {

using sluice::test::Printed;
using namespace sluice;  // NOLINT: what a log is made of

// Replays bytes from a file of its own.
Printed replay(const std::string& bytes, const std::string& arguments = "") {
  const auto path = std::filesystem::temp_directory_path() / ("sluice-replay-" + std::to_string(getpid()) + ".log");
  std::ofstream(path, std::ios::binary) << bytes;
  const Printed run = test::sluice("replay " + path.string() + " " + arguments);
  std::filesystem::remove(path);
  return run;
}

void expect_says(const Printed& run, int status, const std::string& text) {
  EXPECT_EQ(run.status, status) << run.output;
  EXPECT_NE(run.output.find(text), std::string::npos) << run.output;
}

TEST(ReplayCommand, SaysThatAllCommandsAreTheSame) {
  const std::string log = record::recorded("sluice");
  expect_says(replay(log), 0, " and 25 decisions of scheduler sluice replayed, all ");
  expect_says(replay(log, "--json"), 0, "\"same\": true");
}

TEST(ReplayCommand, NamesTheFirstDecisionThatDiffers) {
  std::string log;
  record::LogWriter writer(log);
  writer.header({.scheduler = "fifo"});
  writer.observed(InvokerDraining{InvokerId(0)}, Time::from_ns(7));
  writer.decided({.at = Time::from_ns(7), .commands = 1, .hash = 0xAB});
  expect_says(replay(log), 1, "error: 1 events and 1 decisions of scheduler fifo replayed, the last one differs\n");
  expect_says(replay(log), 1,
              "decision 1 at 7 ns, after event 1: 1 commands with hash 00000000000000ab were recorded, 0 ");
  expect_says(replay(log, "--json"), 1, "\"time_ns\": 7");
}

TEST(ReplayCommand, WarnsOfATornLogAndRefusesADamagedOne) {
  std::string log = record::recorded("sluice");
  expect_says(replay(log.substr(0, log.size() - 1)), 0, "is cut off; what comes before it is whole\nok: ");
  log[log.size() / 2] = static_cast<char>(log[log.size() / 2] ^ 1);
  expect_says(replay(log), 1, "was changed: its checksum does not match");
  expect_says(replay("application: a\n"), 1, "this is no event log");
  expect_says(test::sluice("replay no/such/file"), 1, "no/such/file: No such file or directory");
}

}  // namespace
