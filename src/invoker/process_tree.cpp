#include "invoker/process_tree.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "wire/channel.h"

namespace sluice::invoker {
namespace {

constexpr int kEndWaitMs = 1'000;

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> out;
  std::error_code gone;
  for (std::filesystem::directory_iterator it(str("/proc/", process, "/task"), gone), end; !gone && it != end;
       it.increment(gone)) {
    out.push_back(static_cast<pid_t>(std::atoi(it->path().filename().c_str())));
  }
  return out;
}

}  // namespace

std::vector<pid_t> family_of(pid_t process) {
  std::vector<pid_t> out{process};
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const pid_t thread : threads_of(out[i])) {
      std::ifstream children(str("/proc/", out[i], "/task/", thread, "/children"));
      for (pid_t child = 0; children >> child;) out.push_back(child);
    }
  }
  return out;
}

Bytes private_memory_of(const std::vector<pid_t>& processes) {
  static const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  std::int64_t pages = 0;
  for (const pid_t process : processes) {
    std::ifstream file(str("/proc/", process, "/statm"));
    std::int64_t size = 0, resident = 0, shared = 0;
    if (file >> size >> resident >> shared) pages += resident - shared;
  }
  return Bytes(pages * page);
}

void keep_on(const std::vector<pid_t>& processes, const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  for (const pid_t process : processes) {
    for (const pid_t thread : threads_of(process)) (void)::sched_setaffinity(thread, sizeof set, &set);
  }
}

void end_all(const std::vector<pid_t>& processes) {
  for (const pid_t process : processes) {
    const wire::Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    if (!handle.valid()) continue;
    (void)::kill(process, SIGKILL);
    pollfd ended{handle.get(), POLLIN, 0};
    (void)::poll(&ended, 1, kEndWaitMs);
  }
}

}  // namespace sluice::invoker
