// What a load on a server came to: answers by status with their latencies, those in time, CPU seconds. For http_load.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice::bench {

// User and system seconds of a process, its threads included; 0 if it cannot be read.
[[nodiscard]] double cpu_seconds_of(int pid);
[[nodiscard]] double own_cpu_seconds();

class LoadFigures {
 public:
  // `slo_us` 0: there is none.
  explicit LoadFigures(double slo_us) : slo_us_(slo_us) {}

  void answered(int status, double latency_us);

  struct Run {
    double seconds = 0;
    std::vector<double> server_cpu;  // by process asked for
    double client_cpu = 0;
    std::size_t connections = 0;   // open at the end
    std::uint64_t unanswered = 0;  // of those that were due
  };
  // Both sort what was answered.
  [[nodiscard]] std::string text(const Run& run);
  [[nodiscard]] std::string json(const Run& run);

 private:
  [[nodiscard]] std::uint64_t count() const;

  double slo_us_;
  std::map<int, std::vector<float>> latencies_us_;  // by status
  std::uint64_t in_time_ = 0;                       // answered with 200 within the objective
};

}  // namespace sluice::bench
