#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "wire/process.h"
#include "worker/parked.h"

namespace sluice::test {
namespace {

bool ends(pid_t pid) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return true;
  pollfd ended{process, POLLIN, 0};
  const bool in_time = ::poll(&ended, 1, 60'000) == 1;
  ::close(process);
  return in_time;
}

TEST(ParkedParent, ForksWorkersThatKnowNothingOfEachOther) {
  auto one = parked().fork();
  auto two = parked().fork();
  EXPECT_GT(one.pid, 0);
  EXPECT_NE(one.pid, two.pid);
  Server first(one.channel), second(two.channel);
  EXPECT_EQ(first.load({.runtime = Runtime::emulated}).error, "");
  EXPECT_EQ(second.load({.runtime = Runtime::emulated}).error, "");
  EXPECT_EQ(first.run({}).error, "");
  first.send(wire::Stop{});
  EXPECT_TRUE(first.closed());
  EXPECT_TRUE(ends(one.pid));
  EXPECT_EQ(second.run({}).error, "");
}

TEST(ParkedParent, GivesAWorkerItsEnvironment) {
  auto worker = parked().fork({.variables = {"SLUICE_GIVEN=a=b", "rubbish", ""}});
  Server server(worker.channel);
  const Body body{.runtime = Runtime::process,
                  .command = {"sh", "-c", R"(read line; echo "{\"y\": \"$SLUICE_GIVEN\"}" >&3)"}};
  ASSERT_EQ(server.load(body, {}, {{"y", DataType::bytes, {1}, {}}}).error, "");
  const auto ran = server.run({});
  ASSERT_EQ(ran.error, "");
  ASSERT_EQ(ran.outputs.size(), 1u);
  EXPECT_NE(server.bytes(ran.outputs[0]).find("a=b"), std::string::npos);
}

TEST(ParkedParent, SaysHowAWorkerEnded) {
  const auto end_of = [](const Parked::Worker& worker) {
    wire::ProcessEnd end{-1, -1};
    EXPECT_EQ(::read(worker.end.get(), &end, sizeof end), static_cast<ssize_t>(sizeof end));
    return std::pair(end.by_signal, end.number);
  };
  auto killed = parked().fork();
  ::kill(killed.pid, SIGSEGV);
  EXPECT_EQ(end_of(killed), std::pair(1, SIGSEGV));
  auto wrong = parked().fork();
  ASSERT_TRUE(wrong.channel.send("rubbish").ok());
  EXPECT_EQ(end_of(wrong), std::pair(0, 1));
}

TEST(ParkedParent, GivesEveryWorkerItsLog) {
  auto worker = parked().fork();
  ASSERT_TRUE(worker.channel.send("rubbish").ok());
  EXPECT_TRUE(Server(worker.channel).closed());
  EXPECT_TRUE(ends(worker.pid));
  std::string text(200, '\0');
  const ssize_t length = ::pread(worker.log.get(), text.data(), text.size(), 0);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  EXPECT_EQ(text, "sluice-worker: a message of 7 bytes is not one of the worker protocol\n");
}

TEST(ParkedParent, LetsProgramsOfItsWorkersBeWaitedFor) {
  auto worker = parked().fork();
  Server server(worker.channel);
  ASSERT_EQ(server.load({.runtime = Runtime::process, .command = {"sh", "-c", "read line; exit 3"}}).error, "");
  EXPECT_EQ(server.run({}).error, "the program exited with code 3 before it had answered");
}

TEST(ParkedParent, TakesItsWorkersWithIt) {
  Parked parked;
  auto worker = parked.fork();
  Server server(worker.channel);
  ASSERT_EQ(server.load({.runtime = Runtime::emulated}).error, "");
  EXPECT_EQ(parked.process.exit_status(), 0);
  EXPECT_TRUE(ends(worker.pid));
}

TEST(ParkedParent, AnswersThatThereIsNoneWhereDescriptorsAreMissing) {
  ASSERT_TRUE(parked().process.channel().send("w").ok());
  EXPECT_EQ(parked().answered(), 0);
  EXPECT_GT(parked().fork().pid, 0);
}

}  // namespace
}  // namespace sluice::test
