#include "workload/request_trace.h"

#include <algorithm>

#include "base/check.h"
#include "workload/draws.h"

namespace sluice::workload {

RequestTrace::RequestTrace(const AzureLlm& requests, const Trace& trace) : rate_scale_(trace.rate_scale) {
  CHECK(requests.ok() && !requests.rows.empty());
  rows_.reserve(requests.rows.size());
  for (const LlmRequest& request : requests.rows) {
    const Duration since_first = request.at - requests.rows.front().at;
    rows_.push_back(static_cast<double>(since_first.count_ns()) * trace.time_scale);
  }
  if (rows_.size() > 1) mean_gap_ns_ = rows_.back() / static_cast<double>(rows_.size() - 1);
}

std::optional<Instant> RequestTrace::next(Rng& rng) {
  if (left_ > 0) {
    place_ += (1 - place_) * least_uniform(left_, rng);
  } else {
    while (left_ == 0) {
      if (rows_begun_ == rows_.size()) return std::nullopt;
      ++rows_begun_;
      left_ = round_at_random(rate_scale_, rng);
    }
    place_ = 0;
  }
  --left_;
  const double row_ns = rows_[rows_begun_ - 1];
  const double end_ns = end_of(rows_begun_ - 1);
  // The sum may round to just above the end, where the next row would then go back.
  return Instant{.ns = std::min(row_ns + place_ * (end_ns - row_ns), end_ns), .application = {}};
}

double RequestTrace::end_of(std::size_t row) const {
  const double mean_gap_later = rows_[row] + mean_gap_ns_;
  return row + 1 == rows_.size() ? mean_gap_later : std::min(mean_gap_later, rows_[row + 1]);
}

}  // namespace sluice::workload
