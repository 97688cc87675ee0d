// StepClock: where the time of one step of the scheduler's thread goes, part by part. Nine readings of the clock a step
// with a decision, 25 ns each.
#pragma once
#include <array>
#include <cstddef>
#include <string>

#include "base/text.h"
#include "base/time.h"
#include "data/clock.h"

namespace sluice::live {

class StepClock {
 public:
  enum class Part : std::uint8_t { look, read, decide, log, deliver, publish };

  // Both give the time they read.
  Time begin() {
    parts_ = {};
    return began_ = last_ = data::now();
  }
  // What was done since begin() or the last part.
  Time end_of(Part part) {
    const Time now = data::now();
    parts_[static_cast<std::size_t>(part)] += now - last_;
    return last_ = now;
  }
  [[nodiscard]] Duration whole() const { return last_ - began_; }
  // "decide 3.1 ms, log 0.2 ms": what took at least a tenth of the whole.
  [[nodiscard]] std::string text() const {
    constexpr std::array kNames{"workers",   "letters", "deciding", "the event log", "commands and answers",
                                "a snapshot"};
    std::string out;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i] * 10 >= whole()) out += str(out.empty() ? "" : ", ", kNames[i], " ", parts_[i].to_ms(), " ms");
    }
    return out;
  }

 private:
  Time began_, last_;
  std::array<Duration, 6> parts_{};
};

}  // namespace sluice::live
