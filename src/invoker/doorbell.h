// Doorbell: wakes one sleeping thread from any other. Ringing costs a system call only if it sleeps.
#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "wire/channel.h"

namespace sluice::invoker {

class Doorbell {
 public:
  Doorbell() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  [[nodiscard]] int descriptor() const { return event_.get(); }

  void ring() {
    if (!asleep_.exchange(false)) return;
    const std::uint64_t one = 1;
    (void)!::write(event_.get(), &one, sizeof one);
  }
  // Before sleeping, and before looking for work a last time: whoever brings work after that look rings.
  void will_sleep() { asleep_.store(true); }
  void woke() {
    asleep_.store(false);
    std::uint64_t ignored = 0;
    (void)!::read(event_.get(), &ignored, sizeof ignored);
  }

 private:
  wire::Descriptor event_;
  std::atomic<bool> asleep_ = false;
};

}  // namespace sluice::invoker
