#include "invoker/spawner.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "wire/process.h"

namespace sluice::invoker {
namespace {

constexpr int kSocket = 3;                     // the descriptor a worker is told to use
constexpr std::uint64_t kProcessesMax = 4096;  // of one tenant, threads too
constexpr int kForkTimeoutMs = 60'000;         // on a busy machine the libraries take long
constexpr int kEndWaitMs = 10'000;             // for one that was killed and that the system does not let end

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

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Variables of the server that workers get: how to find and run programs and libraries, nothing that is anybody's
// secret.
bool harmless(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "HOME"};
  constexpr std::array<std::string_view, 9> kPrefixes = {"LC_",  "OMP_",  "OPENBLAS_", "MKL_",  "KMP_",
                                                         "GOMP", "CUDA_", "NVIDIA_",   "PYTHON"};
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return std::ranges::find(kNames, name) != kNames.end() || std::ranges::any_of(kPrefixes, begins) ||
         name.ends_with("SAN_OPTIONS");
}

// The child has its socket as descriptor 3, its output in the log, and nothing of ours: also what somebody opened
// without close-on-exec, or is opening at this moment.
int start(const std::vector<std::string>& command, const std::vector<std::string>& environment, int socket, int log,
          pid_t& pid) {
  std::vector<char*> arguments = pointers(command), variables = pointers(environment);
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
  // A session of its own: it is ended with what it started, has no terminal, and may not even continue the server.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  const int result = ::posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return result;
}

// DIR of DIR/bin/python3.
std::string environment_of(const Body& body) {
  const std::string& python = body.command.front();
  return python.substr(0, python.rfind('/', python.rfind('/') - 1));
}

Status find_interpreter(const Body& body) {
  if (!has_own_interpreter(body) || ::access(body.command.front().c_str(), X_OK) == 0) return Done{};
  return Error{ErrorCode::unavailable, str("there is no interpreter '", body.command.front(),
                                           "' on the server's machine: make the environment ",
                                           "there with `python3 -m venv --system-site-packages ", environment_of(body),
                                           "` (on Debian that needs the package python3-venv, or --without-pip)")};
}

}  // namespace

bool has_own_interpreter(const Body& body) {
  return body.runtime == Runtime::python && !body.command.empty() && !body.command.front().empty();
}

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

std::vector<std::string> Spawner::environment(const std::string& home,
                                              const std::vector<std::string>& variables) const {
  std::vector<std::string> out{"PYTHONDONTWRITEBYTECODE=1"};
  out.insert(out.end(), variables.begin(), variables.end());
  if (!home.empty()) out.insert(out.end(), {str("HOME=", home), str("TMPDIR=", home)});
  const auto is_ours = [ours = out](std::string_view name) {
    return std::ranges::any_of(ours, [&](const std::string& text) { return text.substr(0, text.find('=')) == name; });
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable, name = text.substr(0, text.find('='));
    const bool asked = std::ranges::find(options_.pass, name) != options_.pass.end();
    if (!is_ours(name) && (harmless(name) || asked)) out.emplace_back(text);
  }
  return out;
}

Result<WorkerProcess> Spawner::execute(const std::vector<std::string>& command, const std::string& home,
                                       const std::vector<std::string>& variables) {
  auto ends = wire::Channel::pair();
  if (!ends) return ends.error();
  auto log = make_log();
  if (!log) return log.error();
  WorkerProcess out;
  // dup2 onto itself would leave the descriptor closed on exec.
  wire::Descriptor socket(::fcntl(ends->second.descriptor(), F_DUPFD_CLOEXEC, kSocket + 1));
  const int failed = start(command, environment(home, variables), socket.get(), log->write.get(), out.pid);
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

// The file itself goes along, since the folder it is in is closed to workers. In the worker's own folder there is a
// link with its name to the descriptor, so that what is said about it has a name.
Status Spawner::hand_over_model(const std::string& file, const Quarters::Place& place, Order& out) {
  out.model = wire::Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!out.model.valid() || ::fstat(out.model.get(), &about) != 0) {
    return Error{ErrorCode::unavailable, str("'", file, "' cannot be read: ", std::strerror(errno))};
  }
  constexpr mode_t kReadable = S_IRGRP | S_IROTH;
  if (place.user != 0) (void)::fchmod(out.model.get(), about.st_mode | kReadable);
  out.confinement.model = true;
  out.model_path = str(place.folder, file.substr(file.rfind('/')));
  const std::string target = str("/proc/self/fd/", wire::kModelDescriptor);
  if (::symlink(target.c_str(), out.model_path.c_str()) == 0 || errno == EEXIST) return Done{};
  return Error{ErrorCode::unavailable, str("'", out.model_path, "' cannot be made: ", std::strerror(errno))};
}

Result<Spawner::Order> Spawner::order(const Body& body, const std::string& tenant) {
  Order out{.confinement = {.server = ::getpid()}};
  if (options_.quarters == nullptr) return out;
  const auto place = options_.quarters->of(tenant);
  if (!place) return place.error();
  out.confinement.user = place->user;
  out.confinement.scratch = place->folder;
  out.confinement.landlock = options_.quarters->landlock();
  if (place->user != 0) out.confinement.processes_max = kProcessesMax;
  std::vector<std::string> readable = options_.readable;
  readable.push_back(options_.worker.substr(0, options_.worker.rfind('/')));
  if (!options_.python_worker.empty()) readable.push_back(options_.python_worker);
  if (body.runtime != Runtime::python)
    readable.insert(readable.end(), body.command.begin(), body.command.end());
  else if (has_own_interpreter(body))
    readable.push_back(environment_of(body));
  for (std::string& path : readable) {
    if (::access(path.c_str(), R_OK) == 0 && options_.quarters->open(path))
      out.confinement.readable.push_back(std::move(path));
  }
  if (body.model.find('/') != std::string::npos) {
    if (const Status handed = hand_over_model(body.model, *place, out); !handed) return handed.error();
  }
  return out;
}

// One from the parked parent waits to be spoken to; every other one waits for its orders.
Result<WorkerProcess> Spawner::spawn(const Body& body, const std::string& tenant, const Limit& limit,
                                     const std::vector<std::string>& variables) {
  auto wanted = order(body, tenant);
  if (!wanted) return wanted.error();
  wanted->confinement.variables = variables;
  if (body.runtime == Runtime::torch && options_.park) {
    auto forked = fork_from_parked(*wanted);
    if (forked) limit(forked->pid);
    return forked;
  }
  std::vector<std::string> command{options_.worker, "--confined", std::to_string(kSocket)};
  if (body.runtime == Runtime::python) {
    if (options_.python_worker.empty()) return Error{ErrorCode::unavailable, "Python functions are not set up here"};
    if (const Status there = find_interpreter(body); !there) return there.error();
    command.insert(command.end(),
                   {has_own_interpreter(body) ? body.command.front() : options_.python, options_.python_worker});
  }
  auto out = execute(command, wanted->confinement.scratch, variables);
  if (!out) return out;
  limit(out->pid);
  const std::string told = wire::encode(wanted->confinement);
  const Status sent = wanted->model.valid() ? out->channel.send(told, {wanted->model.get()}) : out->channel.send(told);
  if (!sent) {
    end_process(*out);
    return sent.error();
  }
  out->model = wanted->model_path;
  return out;
}

// It runs nothing of anybody: it loads libraries only. So it stays the server's user.
Status Spawner::start_parked() {
  auto parked = execute({options_.worker, "--park", std::to_string(kSocket)}, "");
  if (!parked) return parked.error();
  parked_ = std::move(*parked);
  return Done{};
}

// The parent answers with the process id and a handle once the child exists; while it loads its libraries for the first
// time that takes a second.
Result<WorkerProcess> Spawner::fork_from_parked(const Order& wanted) {
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
    std::vector<int> given{ends->second.descriptor(), log->write.get(), end->write.get()};
    if (wanted.model.valid()) given.push_back(wanted.model.get());
    const Status sent = parked_->channel.send(wire::encode(wanted.confinement), given);
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
      out.model = wanted.model_path;
      return out;
    }
    end_process(*parked_);  // dead, or not well: another one
    parked_.reset();
  }
  return Error{ErrorCode::unavailable, str("'", options_.worker, " --park' does not fork workers")};
}

}  // namespace sluice::invoker
