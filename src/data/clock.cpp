#include "data/clock.h"

#include <atomic>
#include <chrono>

namespace sluice::data {

namespace {

using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::steady_clock, std::chrono::system_clock;

std::int64_t steady_ns() {
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

// Unix time less steady time.
std::atomic<std::int64_t>& distance() {
  static std::atomic<std::int64_t> ns =
      duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count() - steady_ns();
  return ns;
}

}  // namespace

Time now() {
  const std::int64_t ahead = distance().load(std::memory_order_relaxed);
  return Time::from_ns(ahead + steady_ns());
}

void never_before(Time floor) {
  const Time at = now();
  if (at < floor) distance() += (floor - at).count_ns();
}

}  // namespace sluice::data
