// Random worlds with faults: every invariant after every event, and everything drains.
#include "sim/soak.h"

#include <gtest/gtest.h>

namespace sluice::sim {
namespace {

TEST(Soak, TwoHundredWorldsKeepEveryInvariant) {
  std::uint64_t events = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const RunResult run = soak(seed);
    events += run.events;
    ASSERT_FALSE(run.violation) << "seed " << seed << " (" << run.scheduler << "), event " << run.violation->event
                                << ": " << run.violation->invariant;
  }
  EXPECT_GT(events, 50'000u);
}

TEST(Soak, ASeedRepeatsToTheBit) {
  for (const std::uint64_t seed : {3u, 17u, 99u}) EXPECT_EQ(soak(seed).hash, soak(seed).hash);
}

}  // namespace
}  // namespace sluice::sim
