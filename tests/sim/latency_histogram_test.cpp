#include "sim/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace sluice::sim {
namespace {

TEST(LatencyHistogram, PercentilesAreGoodToATenthOfAPercent) {
  Rng rng(1);
  LatencyHistogram histogram;
  std::vector<double> all;
  for (int i = 0; i < 20'000; ++i) {
    all.push_back(rng.uniform(0.5, 3000));
    histogram.add(Duration::ms(all.back()));
  }
  std::sort(all.begin(), all.end());
  for (const double q : {0.01, 0.5, 0.95, 0.99, 1.0}) {
    const double exact = all[std::min(all.size() - 1, static_cast<std::size_t>(q * 20'000))];
    EXPECT_NEAR(histogram.quantile_ms(q), exact, exact * 0.003) << q;
  }
  EXPECT_EQ(LatencyHistogram().quantile_ms(0.5), 0);
}

}  // namespace
}  // namespace sluice::sim
