#include "profile/window.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <vector>

#include "base/rng.h"

namespace sluice::profile {
namespace {

// The median of the values and of `votes` more that say `believed`, by its definition; of two middle values the one
// further from `believed`.
double median_with_votes(std::deque<double> values, double believed, std::size_t votes) {
  std::vector<double> all(values.begin(), values.end());
  all.insert(all.end(), votes, believed);
  std::sort(all.begin(), all.end());
  const double low = all[(all.size() - 1) / 2], high = all[all.size() / 2];
  return std::abs(low - believed) > std::abs(high - believed) ? low : high;
}

TEST(Window, AdjustsABeliefToTheMedianWithVotes) {
  Rng rng(1);
  Window<16> window;
  std::deque<double> values;
  for (int i = 0; i < 2'000; ++i) {
    const double value = static_cast<double>(rng.below(12));  // with many equal values
    window.push(value);
    values.push_back(value);
    if (values.size() > 16) values.pop_front();
    ASSERT_TRUE(std::ranges::equal(window.recent(), values));
    for (const double believed : {-1.0, 3.0, 6.5, 20.0}) {
      const double expected = values.size() <= 4 ? believed : median_with_votes(values, believed, 4);
      ASSERT_EQ(window.adjust(believed, 4), expected) << i << ' ' << believed;
    }
  }
}

TEST(Window, IsEqualExactlyIfItHoldsTheSameValuesInTheSameOrder) {
  Window<5> filled, refilled;
  for (const double value : {9.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0}) filled.push(value);
  for (const double value : {1.0, 2.0, 3.0, 4.0, 5.0}) refilled.push(value);
  EXPECT_EQ(filled, refilled);
  refilled.push(1);
  EXPECT_NE(filled, refilled);
}

}  // namespace
}  // namespace sluice::profile
