#include "invoker/worker_end.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "base/ending.h"
#include "base/text.h"
#include "engine/program.h"
#include "wire/process.h"

namespace sluice::invoker {
namespace {

std::string in_words(const wire::ProcessEnd& end) {
  const std::string how = ending_in_words(end.by_signal != 0, end.number);
  const bool killed = end.by_signal != 0 && end.number == SIGKILL;
  return killed ? str(how, " from outside of Sluice, as the system does where its memory runs out") : how;
}

}  // namespace

int end_descriptor(const WorkerProcess& process) {
  return process.own_child ? process.handle.get() : process.end.get();
}

std::optional<std::string> how_it_ended(const WorkerProcess& process) {
  if (process.own_child) {
    const auto end = wire::end_of(process.handle);
    return end ? std::optional(in_words(*end)) : std::nullopt;
  }
  wire::ProcessEnd end;
  if (::read(process.end.get(), &end, sizeof end) != sizeof end) return std::nullopt;
  return in_words(end);
}

Remark worker_remark(Remark::Level level, std::string text, bool quiet) {
  return {.level = level, .component = "worker", .text = std::move(text), .quiet = quiet};
}

std::string over_memory(Bytes most) {
  return str("went over its memory limit of ", to_string(most));
}

std::string with_last_line(const std::string& said, const std::string& line) {
  return line.empty() ? said : str(said, "; it printed last: ", line);
}

bool program_ended(const std::string& error) {
  return error.ends_with(engine::Program::kEnded);
}

}  // namespace sluice::invoker
