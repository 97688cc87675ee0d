// Stopwatch: how long something took. The only clock of a worker, besides that of an emulated function.
#pragma once
#include <chrono>

#include "base/time.h"

namespace sluice::worker {

class Stopwatch {
 public:
  [[nodiscard]] Duration elapsed() const {
    const auto passed = std::chrono::steady_clock::now() - begin_;
    return Duration::ns(std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace sluice::worker
