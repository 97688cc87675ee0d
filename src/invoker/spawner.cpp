#include "invoker/spawner.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/text.h"
#include "wire/process.h"

extern char** environ;

namespace sluice::invoker {
namespace {

constexpr int kSocket = 3;  // the descriptor a worker is told to use
constexpr int kForkTimeoutMs = 10'000;
constexpr int kEndWaitMs = 10'000;  // for one that was killed and that the system does not let end

struct Pipe {
  wire::Descriptor read, write;
};

Result<Pipe> make_log() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::unavailable, str("a pipe for a worker's output cannot be made: ", std::strerror(errno))};
  }
  Pipe out{wire::Descriptor(ends[0]), wire::Descriptor(ends[1])};
  (void)::fcntl(out.read.get(), F_SETFL, O_NONBLOCK);
  return out;
}

// The child has its socket as descriptor 3, its output in the log, and nothing of ours: also what somebody opened
// without close-on-exec, or is opening at this moment.
int start(const std::vector<std::string>& command, int socket, int log, pid_t& pid) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log, 1);
  posix_spawn_file_actions_adddup2(&actions, log, 2);
  posix_spawn_file_actions_adddup2(&actions, socket, kSocket);
  posix_spawn_file_actions_addclosefrom_np(&actions, kSocket + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);  // its own, so that it is ended with what it started
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int result = ::posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return result;
}

}  // namespace

void kill_process(const WorkerProcess& process) {
  if (process.own_child) wire::end_group_of(process.pid);
  (void)wire::send_signal(process.handle, SIGKILL);
}

void end_process(WorkerProcess& process) {
  if (process.handle.valid()) {
    kill_process(process);
    pollfd ended{process.handle.get(), POLLIN, 0};
    (void)::poll(&ended, 1, kEndWaitMs);
    if (process.own_child) (void)wire::wait_for(process.handle);
  }
  process = {};
}

Spawner::~Spawner() {
  if (parked_) end_process(*parked_);
}

Result<WorkerProcess> Spawner::execute(const std::vector<std::string>& command) {
  auto ends = wire::Channel::pair();
  if (!ends) return ends.error();
  auto log = make_log();
  if (!log) return log.error();
  WorkerProcess out;
  // dup2 onto itself would leave the descriptor closed on exec.
  wire::Descriptor socket(::fcntl(ends->second.descriptor(), F_DUPFD_CLOEXEC, kSocket + 1));
  const int failed = start(command, socket.get(), log->write.get(), out.pid);
  if (failed != 0) {
    return Error{ErrorCode::unavailable, str("'", command.front(), "' cannot be started: ", std::strerror(failed))};
  }
  out.own_child = true;
  out.handle = wire::handle_of(out.pid);
  if (!out.handle.valid()) {
    const int reason = errno;
    (void)::kill(out.pid, SIGKILL);  // nobody has waited for it: the number is its own
    (void)::waitpid(out.pid, nullptr, 0);
    return Error{ErrorCode::unavailable, str("'", command.front(), "' cannot be watched: ", std::strerror(reason))};
  }
  out.channel = std::move(ends->first);
  out.log = std::move(log->read);
  return out;
}

Result<WorkerProcess> Spawner::spawn(Runtime runtime) {
  const std::string socket = std::to_string(kSocket);
  if (runtime == Runtime::python) {
    if (options_.python_worker.empty()) return Error{ErrorCode::unavailable, "Python functions are not set up here"};
    return execute({options_.python, options_.python_worker, "--socket", socket});
  }
  if (runtime == Runtime::torch && options_.park) return fork_from_parked();
  return execute({options_.worker, "--socket", socket});
}

Status Spawner::start_parked() {
  auto parked = execute({options_.worker, "--park", std::to_string(kSocket)});
  if (!parked) return parked.error();
  parked_ = std::move(*parked);
  return Done{};
}

// The parent answers with the process id and a handle once the child exists; while it loads its libraries for the first
// time that takes a second.
Result<WorkerProcess> Spawner::fork_from_parked() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!parked_) {
      if (const Status started = start_parked(); !started) return started.error();
    }
    auto ends = wire::Channel::pair();
    if (!ends) return ends.error();
    auto log = make_log();
    if (!log) return log.error();
    auto end = make_log();
    if (!end) return end.error();
    const Status sent = parked_->channel.send("f", {ends->second.descriptor(), log->write.get(), end->write.get()});
    std::string answer;
    std::vector<wire::Descriptor> handles;
    pollfd readable{parked_->channel.descriptor(), POLLIN, 0};
    if (sent && ::poll(&readable, 1, kForkTimeoutMs) > 0 &&
        parked_->channel.receive(answer, &handles) == wire::Received::message &&
        answer.size() == sizeof(std::int64_t)) {
      std::int64_t pid = 0;
      std::memcpy(&pid, answer.data(), sizeof pid);
      if (pid <= 0 || handles.size() != 1) return Error{ErrorCode::unavailable, "no more processes can be made"};
      WorkerProcess out;
      out.pid = static_cast<pid_t>(pid);
      out.handle = std::move(handles.front());
      out.channel = std::move(ends->first);
      out.log = std::move(log->read);
      out.end = std::move(end->read);
      return out;
    }
    end_process(*parked_);  // dead, or not well: another one
    parked_.reset();
  }
  return Error{ErrorCode::unavailable, str("'", options_.worker, " --park' does not fork workers")};
}

}  // namespace sluice::invoker
