// What a worker gets from the server and what it does not, for every kind of worker.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "engine/python_worker.h"
#include "invoker/reaper.h"
#include "invoker/scene.h"
#include "support/places.h"
#include "wire/process.h"
#include "worker/confine.h"

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
  out.worker = test::worker_program();
  out.python = SLUICE_PYTHON;
  out.python_worker = folder + "sluice_worker.py";
  std::ofstream(out.python_worker) << engine::python_worker_source();
  return out;
}

void unlimited(pid_t /*process*/) {}

class EveryKind : public testing::TestWithParam<Runtime> {};

TEST_P(EveryKind, HoldsNoDescriptorButItsOwn) {
  const LeftOpen left_open;
  invoker::Spawner spawner(real(testing::TempDir()));
  auto first = spawner.spawn({.runtime = GetParam()}, "a", unlimited);
  auto second = spawner.spawn({.runtime = GetParam()}, "a", unlimited);
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
    auto process = spawner.spawn({.runtime = GetParam()}, "a", unlimited);
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

std::string status_of(pid_t process, const std::string& field) {
  std::ifstream lines("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(field + ":")) return line.substr(field.size() + 2);
  }
  return {};
}

// Until it has got through its confinement.
std::string settled(pid_t process, const std::string& field, const std::string& wanted) {
  for (int i = 0; status_of(process, field) != wanted && i < 10'000; ++i) ::usleep(1'000);
  return status_of(process, field);
}

TEST_P(EveryKind, IsAUserOfItsTenantAndGetsNoMoreRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make workers other users";
  invoker::Spawner::Options options = real(testing::TempDir());
  options.quarters = invoker::Quarters::make({.closed = testing::TempDir() + "data"}).value();
  options.python_worker = options.quarters->keep(options.python_worker).value();
  invoker::Spawner spawner(options);
  auto one = spawner.spawn({.runtime = GetParam()}, "one", unlimited);
  auto other = spawner.spawn({.runtime = GetParam()}, "other", unlimited);
  ASSERT_TRUE(one.ok() && other.ok());
  std::vector<std::string> users;
  for (const auto& [process, tenant] : {std::pair(&*one, "one"), std::pair(&*other, "other")}) {
    const std::string user = std::to_string(options.quarters->of(tenant)->user);
    const std::string ids = user + "\t" + user + "\t" + user + "\t" + user;
    EXPECT_EQ(settled(process->pid, "NoNewPrivs", "1"), "1");
    EXPECT_EQ(status_of(process->pid, "Uid"), ids);
    EXPECT_EQ(status_of(process->pid, "Gid"), ids);
    EXPECT_EQ(status_of(process->pid, "Groups"), " ");
    EXPECT_EQ(status_of(process->pid, "CapEff"), "0000000000000000");
    users.push_back(user);
  }
  EXPECT_NE(users[0], users[1]);
  invoker::end_process(*one);
  invoker::end_process(*other);
}

// Putting it into control groups takes the system long: a process that runs meanwhile has all CPUs for itself.
TEST_P(EveryKind, RunsNoInterpreterBeforeItIsLimited) {
  invoker::Spawner spawner(real(testing::TempDir()));
  std::string name;
  const auto limit = [&](pid_t process) {
    ::usleep(300'000);
    name = status_of(process, "Name");
  };
  auto process = spawner.spawn({.runtime = GetParam()}, "a", limit);
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(name, "sluice-worker");
  invoker::end_process(*process);
}

TEST_P(EveryKind, GetsNoVariableThatIsNotForWorkers) {
  ::setenv("SLUICE_SECRET", "not for workers", 1);
  ::setenv("ASKED_FOR", "yes", 1);
  invoker::Spawner::Options options = real(testing::TempDir());
  options.pass = {"ASKED_FOR"};
  invoker::Spawner spawner(options);
  auto process = spawner.spawn({.runtime = GetParam()}, "a", unlimited);
  ASSERT_TRUE(process.ok());
  (void)settled(process->pid, "NoNewPrivs", "1");
  std::string variables;  // none while it becomes another program
  for (int i = 0; variables.find("PATH=") == std::string::npos && i < 10'000; ++i, ::usleep(1'000)) {
    std::ifstream file("/proc/" + std::to_string(process->pid) + "/environ");
    variables = std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  EXPECT_EQ(variables.find("SLUICE_SECRET"), std::string::npos);
  EXPECT_NE(variables.find("ASKED_FOR=yes"), std::string::npos);
  EXPECT_NE(variables.find("PATH="), std::string::npos);
  invoker::end_process(*process);
  ::unsetenv("SLUICE_SECRET");
  ::unsetenv("ASKED_FOR");
}

// What a process that keeps to these files can do, a letter each; run in a process of its own.
std::string reach(const wire::Confinement& confinement, const std::string& closed, const std::string& elsewhere) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t server = ::getpid(), child = ::fork();
  if (child == 0) {
    std::string out;
    if (!worker::confine(confinement, server)) out += "not confined ";
    const auto opens = [](const std::string& path, int how) { return ::open(path.c_str(), how, 0600) >= 0; };
    if (opens(closed + "/key", O_RDONLY)) out += "K";
    if (opens(closed, O_RDONLY | O_DIRECTORY)) out += "D";
    if (opens(elsewhere + "/new", O_WRONLY | O_CREAT)) out += "W";
    if (::kill(server, 0) == 0) out += "S";
    if (opens("/etc/passwd", O_RDONLY)) out += "e";
    if (opens(confinement.scratch + "/new", O_RDWR | O_CREAT)) out += "s";
    if (opens("/dev/null", O_RDWR)) out += "n";
    if (opens("/proc/self/fd/" + std::to_string(wire::kModelDescriptor), O_RDONLY)) out += "m";
    (void)!::write(ends[1], out.data(), out.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string out(100, '\0');
  const ssize_t got = ::read(ends[0], out.data(), out.size());
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  out.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return out;
}

TEST(Boundary, LandlockKeepsAWorkerToTheSystemsFilesAndItsOwn) {
  if (worker::landlock_version() == 0) GTEST_SKIP() << "the kernel has no landlock";
  const std::string folder = testing::TempDir() + "sluice-landlock-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder + "/data");
  std::ofstream(folder + "/data/key") << "secret";
  std::ofstream(folder + "/data/model") << "weights";
  const auto quarters = invoker::Quarters::make({.users = 0, .closed = folder + "/data"}).value();
  EXPECT_TRUE(quarters->landlock());
  const wire::Descriptor model(::open((folder + "/data/model").c_str(), O_RDONLY));
  const wire::Descriptor kept(::fcntl(wire::kModelDescriptor, F_DUPFD_CLOEXEC, 100));  // whatever had the number
  ASSERT_EQ(::dup2(model.get(), wire::kModelDescriptor), wire::kModelDescriptor);
  wire::Confinement confinement{.scratch = quarters->of("a")->folder, .model = true};
  const std::string before = reach(confinement, folder + "/data", folder);
  confinement.landlock = true;
  const std::string after = reach(confinement, folder + "/data", folder);
  ::close(wire::kModelDescriptor);
  if (kept.valid()) ::dup2(kept.get(), wire::kModelDescriptor);
  EXPECT_EQ(before, "KDWSesnm");
  constexpr int kSignals = 6;
  EXPECT_EQ(after, worker::landlock_version() >= kSignals ? "esnm" : "Sesnm");
  std::filesystem::remove_all(folder);
}

TEST(Quarters, GiveATenantTheSameUserAgainAndNoTwoTheSame) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has users to give";
  const auto quarters = invoker::Quarters::make({.first_user = 400'000, .users = 3}).value();
  std::vector<std::uint32_t> users;
  for (const char* tenant : {"a", "b", "c"}) users.push_back(quarters->of(tenant)->user);
  EXPECT_EQ(quarters->of("b")->user, users[1]);
  std::ranges::sort(users);
  EXPECT_EQ(users, (std::vector<std::uint32_t>{400'000, 400'001, 400'002}));
  EXPECT_FALSE(quarters->of("d").ok());
}

TEST(Quarters, ShowNoDataOfTheServerNorWhatHoldsThem) {
  const auto quarters = invoker::Quarters::make({.closed = "/var/lib/sluice"}).value();
  EXPECT_FALSE(quarters->open("/var/lib/sluice"));
  EXPECT_FALSE(quarters->open("/var/lib/sluice/key"));
  EXPECT_FALSE(quarters->open("/var/lib/../lib/sluice/models"));
  EXPECT_FALSE(quarters->open("/var"));
  EXPECT_FALSE(quarters->open("/"));
  EXPECT_TRUE(quarters->open("/usr/bin"));
  EXPECT_TRUE(quarters->open("/var/lib/sluice-other"));
}

TEST(Quarters, GoWithTheirServerAndThoseOfOneThatWasKilledWithTheNext) {
  std::string folder;
  {
    const auto quarters = invoker::Quarters::make({}).value();
    folder = quarters->of("a")->folder;
    EXPECT_TRUE(std::filesystem::is_directory(folder));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
  const auto left = std::filesystem::temp_directory_path() / "sluice-workers-99999999-abcdef";
  std::filesystem::create_directory(left);
  (void)invoker::Quarters::make({});
  EXPECT_FALSE(std::filesystem::exists(left));
}

// What a worker may still write is nobody else's: its space is free when it is gone, not when it is told to go.
TEST(Boundary, TheSpaceOfAWorkerThatIsBeingEndedIsFreeOnlyWhenItIsGone) {
  const std::string held = testing::TempDir() + "sluice-quarantined-" + std::to_string(::getpid());
  std::ofstream(held) << "1";
  invoker::AgentOptions options;
  options.spawner.worker = test::hostile_worker();
  options.spawner.pass = {"HELD"};
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
