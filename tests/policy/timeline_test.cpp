// Gaps between bookings against trying every instant.
#include "policy/timeline.h"

#include <gtest/gtest.h>

#include <bit>

#include "base/rng.h"
#include "policy/slice_positions.h"

namespace sluice::policy {
namespace {

constexpr SharedFunctionId kFunction(0);
constexpr std::uint32_t kVcpus = 6, kSlices = 7, kGpus = 2;

Time tick(std::uint64_t at) {
  return Time::from_ns(static_cast<std::int64_t>(at));
}

// Bookings that never take anything twice, at small whole instants.
Invoker random_machine(Rng& rng) {
  Invoker out{.id = InvokerId(0), .usable = true, .warm = true, .vcpu = kVcpus, .vcpu_free = kVcpus};
  out.layout = static_cast<SliceLayout>(rng.below(3));
  out.gpus.assign(kGpus, {.slices = kSlices, .free = (std::uint64_t{1} << kSlices) - 1});
  for (std::uint64_t i = 0; i < 12; ++i) {
    const auto c = configuration(1, 1 + static_cast<int>(rng.below(3)), static_cast<int>(rng.below(5)));
    const Duration length = Duration::ns(1 + static_cast<int>(rng.below(6)));
    const auto gap = first_gap(out, c, kFunction, tick(rng.below(20)), length);
    if (!gap || rng.chance(0.3)) continue;
    out.bookings.push_back({.owner = i,
                            .reserved = true,
                            .from = gap->from,
                            .to = gap->from + length,
                            .configuration = c,
                            .positions = gap->positions});
  }
  return out;
}

// Instant by instant.
bool is_free(const Invoker& m, const Configuration& c, std::uint64_t from, std::uint64_t length) {
  std::vector<std::uint64_t> free(kGpus, (std::uint64_t{1} << kSlices) - 1);
  for (std::uint64_t t = from; t < from + length; ++t) {
    std::uint32_t vcpu = c.vcpu;
    for (const Booking& b : m.bookings) {
      if (tick(t) < b.from || b.to <= tick(t)) continue;
      vcpu += b.configuration.vcpu;
      free[b.positions.gpu] &= ~b.positions.slices;
    }
    if (vcpu > m.vcpu) return false;
  }
  if (c.slices == 0) return true;
  return free_positions({kSlices, free[0]}, c.slices, m.layout) ||
         free_positions({kSlices, free[1]}, c.slices, m.layout);
}

TEST(Timeline, FirstGapIsTheFirstInstantThatIsFree) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    Rng rng = Rng::keyed(seed, 2);
    const Invoker machine = random_machine(rng);
    const auto c = configuration(1, 1 + static_cast<int>(rng.below(kVcpus)), static_cast<int>(rng.below(5)));
    const std::uint64_t earliest = rng.below(20), length = 1 + rng.below(8);
    std::uint64_t expected = earliest;
    while (expected < 1'000 && !is_free(machine, c, expected, length)) ++expected;
    const auto gap = first_gap(machine, c, kFunction, tick(earliest), Duration::ns(static_cast<int>(length)));
    if (expected == 1'000) {
      ASSERT_FALSE(gap) << "seed " << seed;  // a share that the layout never allows
      continue;
    }
    ASSERT_TRUE(gap) << "seed " << seed;
    ASSERT_EQ(gap->from, tick(expected)) << "seed " << seed;
    ASSERT_EQ(static_cast<std::uint32_t>(std::popcount(gap->positions.slices)), c.slices);
    const Span span{gap->from, gap->from + Duration::ns(static_cast<int>(length))};
    ASSERT_EQ(slices_taken(machine, gap->positions.gpu, span) & gap->positions.slices, 0u) << "seed " << seed;
  }
}

TEST(Timeline, NothingIsFreeWhereNothingIsLoadedOrUsable) {
  Invoker machine{.id = InvokerId(0), .usable = true, .vcpu = 4, .vcpu_free = 4};
  machine.gpus.push_back({.slices = 7, .free = 127});
  const auto gap = [&] { return first_gap(machine, configuration(1, 1, 1), kFunction, tick(0), Duration::ns(1)); };
  EXPECT_FALSE(gap());
  machine.gpus[0].room.add(kFunction, 1);
  EXPECT_TRUE(gap());
  machine.usable = false;
  EXPECT_FALSE(gap());
}

// Against every instant: what is free, and until when.
TEST(Skyline, StretchesAreAsLongAsTheyAreFree) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng = Rng::keyed(seed, 3);
    const Invoker machine = random_machine(rng);
    Skyline skyline;
    skyline.make(machine, tick(0));
    const std::uint32_t wanted = 1 + static_cast<std::uint32_t>(rng.below(kVcpus));
    const std::uint64_t at = rng.below(30);
    const auto free = [&](std::uint64_t t) {
      return vcpus_taken(machine, {tick(t), tick(t + 1)}) + wanted <= machine.vcpu;
    };
    ASSERT_EQ(skyline.vcpus_free(tick(at)), machine.vcpu - vcpus_taken(machine, {tick(at), tick(at + 1)}));
    if (!free(at)) continue;
    std::uint64_t from = at, to = at;
    while (from > 0 && free(from - 1)) --from;
    while (to < 1'000 && free(to)) ++to;
    const Span open = skyline.open_vcpus(tick(at), wanted);
    ASSERT_EQ(open.from, tick(from)) << "seed " << seed;
    ASSERT_EQ(open.to, to == 1'000 ? Time::max() : tick(to)) << "seed " << seed;
  }
}

// It should have ended at 10 and still runs at 12: nothing can be promised there at once, though its time is over.
TEST(Skyline, WhatRunsForTooLongIsStillThere) {
  Invoker machine{.id = InvokerId(0), .usable = true, .warm = true, .vcpu = 1, .vcpu_free = 0};
  machine.bookings.push_back({.from = tick(0), .to = tick(10), .configuration = configuration(1, 1, 0)});
  Skyline skyline;
  skyline.make(machine, tick(12));
  EXPECT_EQ(skyline.first(configuration(1, 1, 0), tick(12), Duration::ns(5))->from, tick(13));
}

}  // namespace
}  // namespace sluice::policy
