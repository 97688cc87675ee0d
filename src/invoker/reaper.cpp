#include "invoker/reaper.h"

#include <algorithm>
#include <array>
#include <optional>

#include "data/clock.h"
#include "wire/process.h"

namespace sluice::invoker {
namespace {

constexpr Duration kLookAgain = Duration::ms(20);  // at one that has ended and cannot be waited for yet
constexpr Duration kStopMax = Duration::s(10);
constexpr std::uint64_t kOneEnded = 0;

}  // namespace

Status Reaper::start() {
  if (const Status started = waker_.start(); !started) return started;
  thread_ = std::thread([this] { loop(); });
  return Done{};
}

void Reaper::end(WorkerProcess process, std::function<void()> then) {
  if (!process.handle.valid()) return;
  kill_process(process);
  process.channel = wire::Channel(wire::Descriptor());
  process.log.reset();
  {
    const std::lock_guard lock(mutex_);
    added_.push_back({std::move(process), std::move(then)});
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

// What the process started in its last moments goes with it: its group is ended once more before anybody waits for it.
bool Reaper::gone(Ending& ending) {
  if (!ending.ended && !wire::has_ended(ending.process.handle)) return false;
  if (!ending.ended) waker_.forget(ending.process.handle.get());
  ending.ended = true;
  if (!ending.process.own_child) return true;
  wire::end_group_of(ending.process.pid);
  return wire::wait_for(ending.process.handle);
}

void Reaper::take_added(std::vector<Ending>& endings) {
  for (Ending& ending : added_) {
    waker_.watch(ending.process.handle.get(), kOneEnded);
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
    std::erase_if(endings, [this](Ending& ending) {
      if (!gone(ending)) return false;
      ending.then();
      return true;
    });
    if (stopping && !give_up) give_up = data::now() + kStopMax;
    if (stopping && (endings.empty() || data::now() > *give_up)) return;
    const bool waits = std::ranges::any_of(endings, [](const Ending& e) { return e.ended; });
    if (waits || stopping) waker_.listen(data::now() + kLookAgain);
  }
}

}  // namespace sluice::invoker
