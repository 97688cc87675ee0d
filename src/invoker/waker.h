// Waker: what one thread waits for: descriptors, a bell that any thread rings, and a time. All of it is one descriptor,
// so that the wait can be part of another loop's. Ringing costs a system call only if that thread waits.
#pragma once
#include <atomic>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/time.h"
#include "wire/channel.h"

namespace sluice::invoker {

class Waker {
 public:
  [[nodiscard]] Status start();
  [[nodiscard]] int descriptor() const { return epoll_.get(); }
  // `key` is told when `descriptor` is readable, until it is forgotten. Below the two largest values.
  void watch(int descriptor, std::uint64_t key);
  // To be called before it is closed: a process that is just being made has copies of all descriptors until it runs its
  // program, and while one of them is open closing ours does not end the telling.
  void forget(int descriptor);

  // The keys of what is readable now, as many as fit; does not wait. The bell and the time are dealt with.
  [[nodiscard]] std::size_t take(std::span<std::uint64_t> keys);
  // Before waiting, and before looking for work a last time: whoever brings work after that look is heard. The wait
  // ends at `until` at the latest.
  void listen(Time until);
  void wait();  // until take() has something, or would deal with something
  void ring();  // any thread

 private:
  wire::Descriptor epoll_, bell_, timer_;
  std::atomic<bool> listening_ = false;
  Time armed_ = Time::max();  // for when the timer is set; it may be sooner than wanted, since setting it is not free
};

}  // namespace sluice::invoker
