// A process id may be another process's by the time it is used: what is done to a worker is done by its handle. Here
// the number is a stranger's from the start.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include "invoker/process_tree.h"
#include "invoker/reaper.h"
#include "support/places.h"
#include "wire/process.h"

namespace sluice::invoker {
namespace {

// Answers every byte, and leads a group.
class Stranger {
 public:
  Stranger() {
    std::array<int, 2> asked{}, said{};
    EXPECT_EQ(::pipe2(asked.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(said.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(asked[1]);
      for (char byte = 0; ::read(asked[0], &byte, 1) == 1;) (void)!::write(said[1], &byte, 1);
      ::_exit(0);
    }
    ::setpgid(pid_, pid_);
    ask_ = wire::Descriptor(asked[1]);
    hear_ = wire::Descriptor(said[0]);
    ::close(asked[0]);
    ::close(said[1]);
  }
  ~Stranger() {
    ask_.reset();
    ::waitpid(pid_, nullptr, 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // False also where a signal is on its way to it: it answers nothing any more.
  [[nodiscard]] bool lives() const {
    ::signal(SIGPIPE, SIG_IGN);
    char byte = 'x';
    return ::write(ask_.get(), &byte, 1) == 1 && ::read(hear_.get(), &byte, 1) == 1;
  }

 private:
  pid_t pid_ = 0;
  wire::Descriptor ask_, hear_;
};

// The handle of a process that has ended and was waited for, as the parked parent does it for its own.
wire::Descriptor ended_handle() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  wire::Descriptor out = wire::handle_of(pid);
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  return out;
}

WorkerProcess worker_with_the_number_of(const Stranger& stranger) {
  WorkerProcess out;
  out.pid = stranger.pid();
  out.handle = ended_handle();
  return out;
}

TEST(Strangers, AreNotEndedInPlaceOfAWorkerThatIsGone) {
  const Stranger stranger;
  WorkerProcess worker = worker_with_the_number_of(stranger);
  end_process(worker);
  EXPECT_TRUE(stranger.lives());
}

TEST(Strangers, AreNotReapedInPlaceOfAWorkerThatIsGone) {
  const Stranger stranger;
  bool gone = false;
  {
    Reaper reaper;
    ASSERT_TRUE(reaper.start().ok());
    reaper.end(worker_with_the_number_of(stranger), [&] { gone = true; });
  }
  EXPECT_TRUE(gone);
  EXPECT_TRUE(stranger.lives());
}

// The parked parent waits for its children: only the handle that it sends along is sure to be of the worker.
TEST(Strangers, AreNotEndedInPlaceOfAWorkerOfTheParkedParent) {
  const Stranger stranger;
  ::setenv("STRANGER", std::to_string(stranger.pid()).c_str(), 1);
  Spawner spawner({.worker = test::hostile_worker(), .pass = {"STRANGER"}});
  auto worker = spawner.spawn({.runtime = Runtime::torch}, "a", [](pid_t) {});
  ::unsetenv("STRANGER");
  ASSERT_TRUE(worker.ok()) << worker.error().message;
  ASSERT_EQ(worker->pid, stranger.pid());
  EXPECT_FALSE(wire::has_ended(worker->handle));
  const wire::Descriptor handle(::fcntl(worker->handle.get(), F_DUPFD_CLOEXEC, 0));
  end_process(*worker);
  EXPECT_TRUE(wire::has_ended(handle));
  EXPECT_TRUE(stranger.lives());
}

TEST(Strangers, AreNotEndedWithAGroupThatTheyAreNotListedInAnyMore) {
  const Stranger stranger, member;
  int asked = 0;
  end_all([&]() -> std::vector<pid_t> {
    if (++asked == 1) return {stranger.pid(), member.pid()};
    return {member.pid()};
  });
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(stranger.lives());
  EXPECT_FALSE(member.lives());
}

}  // namespace
}  // namespace sluice::invoker
