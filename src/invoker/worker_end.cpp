#include "invoker/worker_end.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/text.h"
#include "wire/process.h"

namespace sluice::invoker {
namespace {

std::string in_words(const wire::ProcessEnd& end) {
  if (!end.by_signal) return str("exited with code ", end.number);
  const char* name = ::sigabbrev_np(end.number);
  return str("was killed by signal ", end.number, name == nullptr ? "" : str(" (SIG", name, ")"));
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

}  // namespace sluice::invoker
