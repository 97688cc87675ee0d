#include "data/clock.h"

#include <chrono>

namespace sluice::data {

Time now() {
  using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::steady_clock, std::chrono::system_clock;
  static const auto kStart = steady_clock::now();
  static const std::int64_t kUnix = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  return Time::from_ns(kUnix + duration_cast<nanoseconds>(steady_clock::now() - kStart).count());
}

}  // namespace sluice::data
