#include "invoker/waker.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "data/clock.h"

namespace sluice::invoker {
namespace {

constexpr std::uint64_t kBell = ~std::uint64_t{0}, kTimer = kBell - 1;
constexpr std::size_t kEvents = 64;
constexpr std::int64_t kSecond = 1'000'000'000, kLongest = 3'600 * kSecond;

void clear(int descriptor) {
  std::uint64_t ignored = 0;
  (void)!::read(descriptor, &ignored, sizeof ignored);
}

}  // namespace

Status Waker::start() {
  epoll_ = wire::Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  bell_ = wire::Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  timer_ = wire::Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll_.valid() || !bell_.valid() || !timer_.valid()) {
    return Error{ErrorCode::unavailable, str("the invoker cannot start: ", std::strerror(errno))};
  }
  watch(bell_.get(), kBell);
  watch(timer_.get(), kTimer);
  return Done{};
}

void Waker::watch(int descriptor, std::uint64_t key) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = key}};
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

void Waker::forget(int descriptor) {
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

std::size_t Waker::take(std::span<std::uint64_t> keys) {
  std::array<epoll_event, kEvents> events;
  listening_.store(false);
  const int most = static_cast<int>(std::min(keys.size(), kEvents));
  const int count = ::epoll_wait(epoll_.get(), events.data(), most, 0);
  std::size_t taken = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t key = events[static_cast<std::size_t>(i)].data.u64;
    if (key == kBell) {
      clear(bell_.get());
    } else if (key == kTimer) {
      clear(timer_.get());
      armed_ = Time::max();
    } else {
      keys[taken++] = key;
    }
  }
  return taken;
}

void Waker::listen(Time until) {
  listening_.store(true);
  if (until >= armed_) return;
  armed_ = until;
  const std::int64_t ns = std::clamp<std::int64_t>((until - data::now()).count_ns(), 1, kLongest);
  const itimerspec in{.it_interval = {}, .it_value = {.tv_sec = ns / kSecond, .tv_nsec = ns % kSecond}};
  (void)::timerfd_settime(timer_.get(), 0, &in, nullptr);
}

void Waker::wait() {
  pollfd readable{.fd = epoll_.get(), .events = POLLIN, .revents = 0};
  (void)::poll(&readable, 1, -1);
}

void Waker::ring() {
  if (!listening_.exchange(false)) return;
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
}

}  // namespace sluice::invoker
