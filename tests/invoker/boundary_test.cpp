// What a worker gets from the server and what it does not, for every kind of worker.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "engine/python_worker.h"
#include "invoker/reaper.h"
#include "invoker/scene.h"
#include "wire/process.h"

namespace sluice::invoker_test {
namespace {

// Descriptors of this process that were left open on exec: a file, and both ends of a connection.
class LeftOpen {
 public:
  LeftOpen() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    for (const int end : ends) descriptors_.emplace_back(end);
    descriptors_.emplace_back(::open("/proc/self/status", O_RDONLY));  // NOLINT: left open on purpose
  }

 private:
  std::vector<wire::Descriptor> descriptors_;
};

// What every descriptor is, without numbers: "pipe", "socket", "/dev/null".
std::vector<std::string> open_in(pid_t process) {
  std::vector<std::string> out;
  const std::string folder = "/proc/" + std::to_string(process) + "/fd/";
  for (const std::string& number : names_in(folder)) {
    std::error_code gone;
    std::string is = std::filesystem::read_symlink(folder + number, gone).string();
    if (!gone) out.push_back(is.substr(0, is.find(':')));
  }
  std::ranges::sort(out);
  return out;
}

const std::vector<std::string> kOwn{"/dev/null", "pipe", "pipe", "socket"};

// While a program starts it opens its libraries, one after the other.
bool comes_to_hold(pid_t process, const std::vector<std::string>& wanted) {
  for (const Time until = data::now() + Duration::s(30); open_in(process) != wanted; ::usleep(1'000)) {
    if (data::now() > until) return false;
  }
  return true;
}

invoker::Spawner::Options real(const std::string& folder) {
  invoker::Spawner::Options out;
  out.worker = SLUICE_WORKER;
  out.python = SLUICE_PYTHON;
  out.python_worker = folder + "sluice_worker.py";
  std::ofstream(out.python_worker) << engine::python_worker_source();
  return out;
}

class EveryKind : public testing::TestWithParam<Runtime> {};

TEST_P(EveryKind, HoldsNoDescriptorButItsOwn) {
  const LeftOpen left_open;
  invoker::Spawner spawner(real(testing::TempDir()));
  auto first = spawner.spawn(GetParam());
  auto second = spawner.spawn(GetParam());
  ASSERT_TRUE(first.ok() && second.ok());
  for (invoker::WorkerProcess* process : {&*first, &*second}) {
    EXPECT_TRUE(comes_to_hold(process->pid, kOwn)) << testing::PrintToString(open_in(process->pid));
  }
  invoker::end_process(*first);
  invoker::end_process(*second);
}

TEST_P(EveryKind, LeadsAGroupThatIsEndedWithIt) {
  const Held before = held_now();
  {
    invoker::Spawner spawner(real(testing::TempDir()));
    auto process = spawner.spawn(GetParam());
    ASSERT_TRUE(process.ok());
    for (int i = 0; ::getpgid(process->pid) != process->pid && i < 10'000; ++i) ::usleep(1'000);
    EXPECT_EQ(::getpgid(process->pid), process->pid);
    const wire::Descriptor handle = wire::handle_of(process->pid);
    invoker::end_process(*process);
    EXPECT_TRUE(wire::has_ended(handle));
  }
  EXPECT_EQ(held_now(), before);
}
INSTANTIATE_TEST_SUITE_P(Boundary, EveryKind,
                         testing::Values(Runtime::emulated, Runtime::process, Runtime::python, Runtime::torch));

// What a worker may still write is nobody else's: its space is free when it is gone, not when it is told to go.
TEST(Boundary, TheSpaceOfAWorkerThatIsBeingEndedIsFreeOnlyWhenItIsGone) {
  const std::string held = testing::TempDir() + "sluice-quarantined-" + std::to_string(::getpid());
  std::ofstream(held) << "1";
  invoker::AgentOptions options;
  options.spawner.worker = HOSTILE_WORKER;
  options.hang_least = Duration::ms(200);
  ::setenv("HELD", held.c_str(), 1);
  Scene scene(
      alone("dies slowly and hangs", "{runtime: process, command: unused, profile: {table: [[8, 1, 0, 1.0, 0.1]]}}"),
      options);
  scene.load();
  const bool traced = scene.next_of<InstanceLoaded, LoadFailed>();
  ::unsetenv("HELD");
  if (!traced) GTEST_SKIP() << "nobody may trace others here";
  (void)scene.start();
  EXPECT_TRUE(scene.next<BatchFailed>().has_value());  // it hangs, so that it is ended
  scene.forget();
  EXPECT_GT(scene.arena().used(), 0u);
  ::unlink(held.c_str());
  for (int i = 0; scene.arena().used() != 0 && i < 10'000; ++i) ::usleep(1'000);
  EXPECT_EQ(scene.arena().used(), 0u);
}

}  // namespace
}  // namespace sluice::invoker_test
