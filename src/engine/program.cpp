#include "engine/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/ending.h"
#include "base/text.h"

namespace sluice::engine {
namespace {

constexpr int kAnswersOfChild = 3;
constexpr int kExitWaitMs = 200;  // between the end of the answers and the end of the process

struct Pipe {
  int reads = -1, writes = -1;

  // Above what the child uses, so that nothing is overwritten on its way there.
  [[nodiscard]] bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    reads = ::fcntl(ends[0], F_DUPFD_CLOEXEC, kAnswersOfChild + 1);
    writes = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kAnswersOfChild + 1);
    ::close(ends[0]);
    ::close(ends[1]);
    return reads >= 0 && writes >= 0;
  }
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (reads >= 0) ::close(reads);
    if (writes >= 0) ::close(writes);
  }
};

Error not_started(const std::string& program, int reason) {
  return {ErrorCode::unavailable, str("program `", printable(program), "` cannot be started: ", std::strerror(reason))};
}

// In the child: only calls that are safe after a fork.
[[noreturn]] void become(char* const* arguments, const Pipe& requests, const Pipe& answers, int failed, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGCHLD, SIG_DFL);
  if (::dup2(requests.reads, STDIN_FILENO) >= 0 && ::dup2(answers.writes, kAnswersOfChild) >= 0) {
    (void)::close_range(kAnswersOfChild + 1, ~0u, CLOSE_RANGE_CLOEXEC);  // whatever a library left open
    ::execvp(arguments[0], arguments);
  }
  const int reason = errno;
  (void)!::write(failed, &reason, sizeof reason);
  ::_exit(127);
}

// Why the child could not become the program; 0: it did.
int failure(Pipe& failed) {
  ::close(std::exchange(failed.writes, -1));
  int reason = 0;
  ssize_t got = 0;
  do {
    got = ::read(failed.reads, &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  return got == sizeof reason ? reason : 0;
}

}  // namespace

Result<Program> Program::start(const std::vector<std::string>& command) {
  if (command.empty()) return Error{ErrorCode::invalid, "a function of runtime process has to name its command"};
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  Pipe requests, answers, failed;
  if (!requests.open() || !answers.open() || !failed.open()) return not_started(command.front(), errno);
  ::unsetenv("__OW_WAIT_FOR_ACK");  // a program that finds it says "ready" first, which nobody waits for
  const pid_t self = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return not_started(command.front(), errno);
  if (pid == 0) become(arguments.data(), requests, answers, failed.writes, self);
  Program program(pid, std::exchange(requests.writes, -1), std::exchange(answers.reads, -1));
  if (const int reason = failure(failed); reason != 0) return not_started(command.front(), reason);
  ::fcntl(program.requests_, F_SETFL, O_NONBLOCK);
  ::fcntl(program.answers_, F_SETFL, O_NONBLOCK);
  return program;
}

Program::~Program() {
  if (requests_ >= 0) ::close(requests_);
  if (answers_ >= 0) ::close(answers_);
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<std::string> Program::exchange(std::string_view line) {
  std::string answer;
  for (;;) {
    std::array<pollfd, 2> ready{{{answers_, POLLIN, 0}, {line.empty() ? -1 : requests_, POLLOUT, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return ended();
    // Answers first: what comes before the request is out cannot belong to it.
    if (ready[0].revents != 0) {
      const std::size_t before = answer.size();
      if (auto read = read_some(answer); !read) return read.error();
      const std::size_t end = answer.find('\n', before);
      if (end != std::string::npos && (!line.empty() || end + 1 != answer.size())) {
        return Error{ErrorCode::internal, "the program has to answer each line with exactly one line, but wrote more"};
      }
      if (end != std::string::npos) {
        answer.pop_back();
        return answer;
      }
    }
    if (ready[1].revents != 0) {
      if (auto written = write_some(line); !written) return written.error();
    }
  }
}

Status Program::write_some(std::string_view& line) {
  const ssize_t written = ::write(requests_, line.data(), line.size());
  if (written >= 0) {
    line.remove_prefix(static_cast<std::size_t>(written));
  } else if (errno != EAGAIN && errno != EINTR) {
    return ended();
  }
  return Done{};
}

Status Program::read_some(std::string& answer) {
  std::array<char, 64u << 10> part;  // NOLINT: read fills it
  const ssize_t got = ::read(answers_, part.data(), part.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Done{};
  if (got <= 0) return ended();
  answer.append(part.data(), static_cast<std::size_t>(got));
  if (answer.size() <= kAnswerMax) return Done{};
  return Error{ErrorCode::too_large, str("the program answered with a line of more than ", kAnswerMax >> 20, " MiB")};
}

Error Program::ended() {
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  pollfd exit{process, POLLIN, 0};
  (void)::poll(&exit, 1, kExitWaitMs);
  if (process >= 0) ::close(process);
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) {
    return {ErrorCode::internal, "the program closed its input or its answers before it had answered"};
  }
  pid_ = -1;
  const bool by_signal = WIFSIGNALED(status);
  const std::string how = ending_in_words(by_signal, by_signal ? WTERMSIG(status) : WEXITSTATUS(status));
  return {ErrorCode::internal, str("the program ", how, kEnded)};
}

}  // namespace sluice::engine
