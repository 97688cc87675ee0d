// RunShape: what a report needs to know of a whole run, in bounded memory. Latencies as shares of the objective, so
// that applications compare; where the time of invocations went; and where the worst misses are.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/observer.h"

namespace sluice::sim {

class RunShape final : public Observer {
 public:
  static constexpr std::size_t kBinsPerObjective = 200;
  static constexpr std::size_t kBins = 10 * kBinsPerObjective;  // slower ones are only counted

  struct Shares {                         // of one application, after warm-up
    std::vector<std::uint64_t> counts;    // bin i: latency / objective in (i, i + 1] / kBinsPerObjective
    std::uint64_t slower = 0;             // than all bins
    std::array<std::uint64_t, 5> ends{};  // by Ending
    Duration objective;                   // of the last request: all of an application have the same
    PicoDollars cost;
  };
  struct Times {  // sums over members of batches, after warm-up
    double waiting_ms = 0, deciding_ms = 0, loading_ms = 0, transfer_ms = 0, execution_ms = 0;
    double expected_ms = 0;  // execution, as planned
    std::uint64_t members = 0;
  };
  struct Worst {
    std::uint64_t request = 0;
    double share = 0;  // latency / objective
  };

  RunShape(std::size_t applications, std::uint64_t warmup) : shares_(applications), warmup_(warmup) {}
  void request(const RequestRow& row) override;
  void action(const ActionRow& row) override;

  [[nodiscard]] const std::vector<Shares>& shares() const { return shares_; }  // by application
  [[nodiscard]] const Times& times() const { return times_; }
  [[nodiscard]] const Worst& worst() const { return worst_; }

  // Where a window of `length` requests begins that shows most of all runs: of each its slowest request, or one as near
  // to it as can be. After the warm-up, to the block. REQUIRES: runs is not empty.
  static constexpr std::uint64_t kBlock = 100;
  [[nodiscard]] static std::uint64_t choose_window(const std::vector<const RunShape*>& runs, std::uint64_t length);

 private:
  [[nodiscard]] float slowest(std::size_t block, std::size_t blocks) const;
  std::vector<Shares> shares_;
  std::uint64_t warmup_;  // requests
  Times times_;
  Worst worst_;
  std::vector<float> blocks_;  // the worst share of each block of requests; 0: none finished
};

}  // namespace sluice::sim
