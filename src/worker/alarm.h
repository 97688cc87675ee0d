// Alarm: wakes the thread that reads messages shortly before the next one is likely to come. A GPU that works for many
// is told something as soon as a batch is answered, and a thread that has slept for a millisecond wakes up 50 to 80 µs
// late.
#pragma once
#include <atomic>

#include "base/time.h"
#include "wire/channel.h"

namespace sluice::worker {

class Alarm {
 public:
  // How long a thread looks for what is next before it sleeps.
  static constexpr Duration kLook = Duration::us(60);

  Alarm();
  // From any thread: a batch is nearly done. Costs nothing while the reader is awake.
  void ring();
  // By the thread that reads. Until there is something to read, or the other end is closed.
  void sleep_until_readable(int socket);

 private:
  static constexpr Duration kAhead = Duration::us(250);  // from a ring to the message after that batch, at the most

  wire::Descriptor bell_;
  std::atomic<bool> asleep_ = false;
  std::atomic<bool> rung_ = false;
};

}  // namespace sluice::worker
