// BatchWait: how long the first stage of an application should wait for company. Optimal stopping: `n` requests wait,
// the oldest for some time; starting now costs what the value table says, waiting may make the batch larger and each
// request cheaper, but leaves less time. The rule that makes the mean cost of a request least is found by renewal
// reward: of all rules that stop a cycle, the best one's mean cost per request is the price g at which no rule gains
// anything. Known caveat: arrivals are taken to be Poisson with the rate of the recent past (crowd.h doubts it).
#pragma once
#include <cstdint>
#include <vector>

#include "plan/value_table.h"

namespace sluice::policy {

class BatchWait {
 public:
  // `rate` per ms; `stage` is the first of the table's application.
  BatchWait(const plan::ValueTable& table, std::uint32_t stage, double horizon_ms, double rate,
            const std::vector<plan::BatchCap>& batches);

  // How much of the cost of starting now waiting would save, for `n` that wait and the oldest since `age_ms`; 0: start.
  [[nodiscard]] double gain(std::size_t n, double age_ms) const;
  // When the oldest will be so old that waiting saves no more than `least`.
  [[nodiscard]] double until_ms(std::size_t n, double age_ms, double least) const;
  // What making it took, in expansions of ESG_1Q (table_bill.h).
  [[nodiscard]] std::uint64_t build_expansions() const;

 private:
  static constexpr std::size_t kAges = 96;
  static constexpr int kSolved = 40;  // times, for prices between two bounds

  double step_ms_;
  std::size_t most_;         // that wait together
  std::vector<float> gain_;  // by n, age
};

}  // namespace sluice::policy
