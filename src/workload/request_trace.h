// Plays the requests of a trace at their own times (azure_llm.h). Used by stream.h; which application a request calls
// is drawn from the mix, because the trace does not say.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "domain/experiment.h"
#include "workload/azure_llm.h"
#include "workload/instant.h"

namespace sluice::workload {

class RequestTrace {
 public:
  // The first request comes at 0. rate_scale leaves requests out or repeats them; repeats of a request are spread over
  // the gap that follows it, at most a mean gap, so that bursts stay bursts. REQUIRES: requests.ok().
  RequestTrace(const AzureLlm& requests, const Trace& trace);
  [[nodiscard]] std::optional<Instant> next(Rng& rng);

 private:
  [[nodiscard]] double end_of(std::size_t row) const;  // of its repeats, in ns

  std::vector<double> rows_;  // when they came, in ns
  double rate_scale_ = 1, mean_gap_ns_ = 0;
  // The row that is played: rows_begun_ - 1.
  std::size_t rows_begun_ = 0;
  std::uint64_t left_ = 0;
  double place_ = 0;  // in [0, 1] between the row and its end
};

}  // namespace sluice::workload
