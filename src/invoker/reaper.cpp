#include "invoker/reaper.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "data/clock.h"

namespace sluice::invoker {
namespace {

constexpr Duration kLookAgain = Duration::ms(20);  // at one that has ended and cannot be waited for yet
constexpr Duration kStopMax = Duration::s(10);
constexpr std::uint64_t kOneEnded = 0;

bool readable(int descriptor) {
  pollfd ended{descriptor, POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

}  // namespace

Status Reaper::start() {
  if (const Status started = waker_.start(); !started) return started;
  thread_ = std::thread([this] { loop(); });
  return Done{};
}

void Reaper::end(WorkerProcess process, std::function<void()> then) {
  if (process.pid <= 0) return;
  kill_process(process);
  wire::Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  {
    const std::lock_guard lock(mutex_);
    added_.push_back({process.pid, process.own_child, std::move(handle), std::move(then)});
  }
  waker_.ring();
}

void Reaper::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  waker_.ring();
  if (thread_.joinable()) thread_.join();
}

// A handle that told of its end is closed: it would tell again and again.
bool Reaper::gone(Ending& ending) {
  if (ending.handle.valid() && !readable(ending.handle.get())) return false;
  ending.handle.reset();
  return !ending.own_child || ::waitpid(ending.pid, nullptr, WNOHANG) != 0;
}

void Reaper::take_added(std::vector<Ending>& endings) {
  for (Ending& ending : added_) {
    if (ending.handle.valid()) waker_.watch(ending.handle.get(), kOneEnded);
    endings.push_back(std::move(ending));
  }
  added_.clear();
}

void Reaper::loop() {
  std::vector<Ending> endings;
  std::optional<Time> give_up;  // once it is to stop
  for (;; waker_.wait()) {
    std::array<std::uint64_t, 1> ended;
    (void)waker_.take(ended);
    waker_.listen(Time::max());  // whoever adds one from here on is heard
    bool stopping = false;
    {
      const std::lock_guard lock(mutex_);
      take_added(endings);
      stopping = stopping_;
    }
    std::erase_if(endings, [](Ending& ending) {
      if (!gone(ending)) return false;
      ending.then();
      return true;
    });
    if (stopping && !give_up) give_up = data::now() + kStopMax;
    if (stopping && (endings.empty() || data::now() > *give_up)) return;
    const bool waits = std::ranges::any_of(endings, [](const Ending& e) { return !e.handle.valid(); });
    if (waits || stopping) waker_.listen(data::now() + kLookAgain);
  }
}

}  // namespace sluice::invoker
