#include "bench/race.h"

#include <time.h>

#include <algorithm>

#include "base/check.h"

namespace sluice::bench {
namespace {

// One turn takes about this long at least, so that reading the clock (0.4 µs) does not show.
constexpr double kTurnUs = 100;
constexpr double kCallsMax = 1000;

}  // namespace

double Stopwatch::now_us() {
  timespec now{};
  CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

std::size_t Race::add(std::function<void()> run) {
  contenders_.push_back({.run = std::move(run)});
  return contenders_.size() - 1;
}

void Race::run(std::size_t turns) {
  for (Contender& contender : contenders_) {
    contender.run();
    const Stopwatch watch;
    contender.run();
    contender.calls = static_cast<std::size_t>(std::clamp(kTurnUs / watch.us(), 1.0, kCallsMax));
  }
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (Contender& contender : contenders_) {
      const Stopwatch watch;
      for (std::size_t i = 0; i < contender.calls; ++i) contender.run();
      contender.us.push_back(watch.us() / static_cast<double>(contender.calls));
    }
  }
}

double Race::median_us(std::size_t contender) const {
  return median(contenders_[contender].us);
}

Budgets::Budgets(double ms) {
  for (std::size_t i = 0; i < ms_.size(); ++i) ms_[i] = ms * (0.99 + 0.02 * static_cast<double>(i) / 7);
}

double median(std::vector<double> values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double largest(const std::vector<double>& values) {
  CHECK(!values.empty());
  return *std::max_element(values.begin(), values.end());
}

}  // namespace sluice::bench
