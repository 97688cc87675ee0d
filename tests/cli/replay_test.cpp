// What `sluice replay` prints for logs that are whole, torn, changed and no logs at all.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
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
  log.back() = static_cast<char>(log.back() ^ 1);  // of the last record, not of a length
  expect_says(replay(log), 1, "was changed: its checksum does not match");
  expect_says(replay("application: a\n"), 1, "this is no event log");
  expect_says(test::sluice("replay no/such/file"), 1, "no/such/file: No such file or directory");
}

// A segment after the first goes on from the state that was saved beside it.
TEST(ReplayCommand, BeginsWithTheSaveBesideTheLog) {
  record::LogHeader header{.scheduler = "fifo"};
  const Time deployed = Time::from_ns(5), later = Time::from_ns(9);
  auto scheduler = record::make_scheduler(header);
  ASSERT_TRUE(scheduler.ok());
  (*scheduler)->observe(ApplicationDeployed{ApplicationId(0), record::small_application()}, deployed);
  const std::string save = (*scheduler)->save();
  header.begins_with = record::hash_of_save(save);
  std::ostringstream log;
  record::Recorder recorder(log);
  recorder.header(header);
  const RequestArrived arrived{
      .id = RequestId(1), .application = ApplicationId(0), .deadline = later + Duration::ms(200)};
  recorder.observed(arrived, later);
  (*scheduler)->observe(arrived, later);
  Commands commands;
  (*scheduler)->decide(later, commands);
  ASSERT_EQ(commands.list.size(), 1u);  // it is let in; a new scheduler would refuse it
  recorder.decided(later, commands);
  expect_says(replay(log.str()), 1, "it goes on from a save, which is not there");
  const auto beside = std::filesystem::temp_directory_path() / ("sluice-replay-" + std::to_string(getpid()) + ".save");
  std::ofstream(beside, std::ios::binary) << save;
  expect_says(replay(log.str()), 0, "1 events and 1 decisions of scheduler fifo replayed, all ");
  std::filesystem::remove(beside);
}

}  // namespace
