#include "invoker/process_tree.h"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "wire/process.h"

namespace sluice::invoker {
namespace {

constexpr int kTreeEndWaitMs = 1'000;

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
  static const std::int64_t kPage = ::sysconf(_SC_PAGESIZE);
  std::int64_t pages = 0;
  for (const pid_t process : processes) {
    std::ifstream file(str("/proc/", process, "/statm"));
    std::int64_t size = 0, resident = 0, shared = 0;
    if (file >> size >> resident >> shared) pages += resident - shared;
  }
  return Bytes(pages * kPage);
}

void keep_on(const std::vector<pid_t>& processes, const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  for (const pid_t process : processes) {
    for (const pid_t thread : threads_of(process)) (void)::sched_setaffinity(thread, sizeof set, &set);
  }
}

void end_all(const std::function<std::vector<pid_t>()>& list) {
  std::vector<std::pair<pid_t, wire::Descriptor>> handles;
  for (const pid_t process : list()) handles.emplace_back(process, wire::handle_of(process));
  // One that is still listed is the one the handle is of, or that has ended.
  const std::vector<pid_t> still = list();
  for (const auto& [process, handle] : handles) {
    if (std::find(still.begin(), still.end(), process) != still.end()) (void)wire::send_signal(handle, SIGKILL);
  }
  for (const auto& [process, handle] : handles) {
    pollfd ended{handle.get(), POLLIN, 0};
    if (!handle.valid()) continue;  // gone, or where we do not see it
    if (std::find(still.begin(), still.end(), process) != still.end()) (void)::poll(&ended, 1, kTreeEndWaitMs);
  }
}

}  // namespace sluice::invoker
