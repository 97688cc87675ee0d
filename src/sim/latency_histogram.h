// Latencies of very many requests in bounded memory: buckets of 0.1 % width, so that percentiles are good to that.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace sluice::sim {

class LatencyHistogram {
 public:
  void add(Duration latency) {
    const auto ns = static_cast<std::uint64_t>(latency.count_ns() < 0 ? 0 : latency.count_ns());
    const std::size_t bucket = bucket_of(ns);
    if (bucket >= counts_.size()) counts_.resize(bucket + 1);
    ++counts_[bucket];
    ++count_;
    sum_ms_ += latency.to_ms();
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double mean_ms() const { return count_ == 0 ? 0 : sum_ms_ / static_cast<double>(count_); }
  // The upper end of the bucket that holds the quantile; 0 if there is nothing.
  [[nodiscard]] double quantile_ms(double q) const {
    const double wanted = q * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (static_cast<double>(seen) >= wanted && seen > 0) return static_cast<double>(upper_end(i)) / 1e6;
    }
    return 0;
  }

 private:
  static constexpr unsigned kBits = 10;  // leading bits that are kept
  static std::size_t bucket_of(std::uint64_t ns) {
    const auto width = static_cast<unsigned>(std::bit_width(ns));
    if (width <= kBits) return ns;
    const unsigned shift = width - kBits;
    return (static_cast<std::size_t>(shift) << (kBits - 1)) + (ns >> shift);
  }
  static std::uint64_t upper_end(std::size_t bucket) {
    if (bucket < (std::size_t{1} << kBits)) return bucket;
    const std::size_t shift = (bucket >> (kBits - 1)) - 1;
    const std::uint64_t lead = bucket - (shift << (kBits - 1));
    return ((lead + 1) << shift) - 1;
  }
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ms_ = 0;
};

}  // namespace sluice::sim
