// Race: times several ways of doing the same thing side by side. Google Benchmark runs one benchmark to its end before
// it starts the next, so on cores whose speed drifts a ratio would compare different minutes; here the contenders take
// turns, and the median of many turns counts. Time is the thread's CPU time: searches never wait, and wall time would
// charge the long ones for whatever else runs on the machine.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <vector>

namespace sluice::bench {

class Stopwatch {
 public:
  Stopwatch() : start_us_(now_us()) {}
  [[nodiscard]] double us() const { return now_us() - start_us_; }

 private:
  static double now_us();
  double start_us_;
};

class Race {
 public:
  // Names the contender by its position. `run` is called many times.
  std::size_t add(std::function<void()> run);
  // Every contender in turn, `turns` times, after a call to warm up. Short ones are called several times a turn.
  void run(std::size_t turns);
  [[nodiscard]] double median_us(std::size_t contender) const;  // of one call

 private:
  struct Contender {
    std::function<void()> run;
    std::size_t calls = 1;
    std::vector<double> us;
  };
  std::vector<Contender> contenders_;
};

// Eight budgets within 1 % of the objective, in turn. Asked the same question again and again, branch predictors learn
// the answer by heart: a query then seems to take a third of its time.
class Budgets {
 public:
  explicit Budgets(double ms);
  [[nodiscard]] double next() { return ms_[turn_++ % ms_.size()]; }

 private:
  std::array<double, 8> ms_;
  std::size_t turn_ = 0;
};

// REQUIRES: not empty.
[[nodiscard]] double median(std::vector<double> values);
[[nodiscard]] double largest(const std::vector<double>& values);

}  // namespace sluice::bench
