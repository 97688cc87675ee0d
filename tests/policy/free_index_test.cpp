#include "policy/free_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/rng.h"

namespace sluice::policy {
namespace {

constexpr std::uint32_t kAbsent = FreeIndex::kAbsent;

// The same answers by looking at everything.
template <class Fits, class Rank>
std::optional<std::uint32_t> scan(const std::vector<std::uint32_t>& free, std::uint32_t least, const Fits& fits,
                                  const Rank& rank) {
  std::optional<std::uint32_t> best;
  for (std::uint32_t i = 0; i < free.size(); ++i) {
    if (free[i] == kAbsent || free[i] < least || !fits(i)) continue;
    if (!best || rank(i) < rank(*best)) best = i;
  }
  return best;
}

TEST(FreeIndex, AnswersAsALinearScanWould) {
  Rng rng = Rng::keyed(1, 1);
  FreeIndex index;
  std::vector<std::uint32_t> free(200, kAbsent);
  for (int step = 0; step < 20'000; ++step) {
    const auto invoker = static_cast<std::uint32_t>(rng.below(free.size()));
    free[invoker] = rng.chance(0.1) ? kAbsent : static_cast<std::uint32_t>(rng.below(15));
    index.set(invoker, free[invoker]);
    const auto least = static_cast<std::uint32_t>(rng.below(16));
    const std::uint64_t refused = rng.below(5);
    const auto fits = [&](std::uint32_t i) { return i % 5 >= refused; };
    ASSERT_EQ(index.fullest(least, fits),
              scan(free, least, fits, [&](std::uint32_t i) { return std::tuple(free[i], i); }));
    ASSERT_EQ(index.emptiest(least, fits),
              scan(free, least, fits, [&](std::uint32_t i) { return std::tuple(~free[i], i); }));
  }
}

}  // namespace
}  // namespace sluice::policy
