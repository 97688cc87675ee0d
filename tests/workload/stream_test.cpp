#include "workload/stream.h"

#include "base/hash.h"
#include "domain/limits.h"
#include "workload/streams.h"

namespace sluice::workload {
namespace {

std::uint64_t fingerprint(const Arrivals& arrivals) {
  Hash hash;
  for (const Arrival& arrival : take(a_stream(a_workload(arrivals)), 10'000)) {
    hash.add(arrival.at.count_ns());
    hash.add(arrival.application);
  }
  return hash.value();
}

// The values pin the streams: any compiler, library or change that moves them changes every recorded run.
TEST(ArrivalStream, GivesTheSameArrivalsEverywhere) {
  const OnOff on_off{.on_rate = 100, .off_rate = 5, .on = Duration::s(1), .off = Duration::s(2)};
  const Diurnal diurnal{.rate = 10, .amplitude = 0.9, .period = Duration::s(300)};
  EXPECT_EQ(fingerprint(UniformGap{Duration::ms(10), Duration::ms(16.8)}), 0x1b31a8bdfafee3cfu);
  EXPECT_EQ(fingerprint(Poisson{74.6}), 0x345028b4f9cef4u);
  EXPECT_EQ(fingerprint(Renewal{74.6, 0.3}), 0x28b35eed8e3b8180u);
  EXPECT_EQ(fingerprint(Renewal{74.6, 4}), 0xd50e19bdaf548bdau);
  EXPECT_EQ(fingerprint(on_off), 0xddad1bc2f22b1af2u);
  EXPECT_EQ(fingerprint(diurnal), 0xc3a09a6afb0279bfu);
}

TEST(ArrivalStream, DependsOnTheSeed) {
  const Workload workload = a_workload(Poisson{10});
  EXPECT_EQ(take(a_stream(workload, 7), 100), take(a_stream(workload, 7), 100));
  EXPECT_NE(take(a_stream(workload, 7), 100), take(a_stream(workload, 8), 100));
}

TEST(ArrivalStream, CopiesPlayOnFromTheSamePlace) {
  ArrivalStream stream = a_stream(a_workload(OnOff{.on_rate = 9, .on = Duration::s(1), .off = Duration::s(1)}));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(stream.next().has_value());
  EXPECT_EQ(take(stream, 100), take(stream, 100));
}

TEST(ArrivalStream, EndsAfterWarmupAndRequests) {
  Workload workload = a_workload(Poisson{10}, 30);
  workload.warmup = 12;
  ArrivalStream stream = a_stream(workload);
  EXPECT_EQ(take(stream).size(), 42u);
  while (stream.next()) {
  }
  EXPECT_EQ(stream.next(), std::nullopt);
}

TEST(ArrivalStream, EndsBeforeTimeOverflows) {
  const auto arrivals = take(a_stream(a_workload(Renewal{limits::rate_min, limits::gap_cv_max})));
  ASSERT_FALSE(arrivals.empty());
  EXPECT_LE(arrivals.back().at, limits::arrivals_span_max);
  const auto regular = take(a_stream(a_workload(UniformGap{limits::duration_max, limits::duration_max})));
  EXPECT_EQ(regular.size(), 100u);
  EXPECT_EQ(regular.back().at, limits::arrivals_span_max);
}

TEST(ArrivalStream, CallsAllApplicationsAlikeWithoutAMix) {
  std::vector<int> calls(3);
  for (const Arrival& arrival : take(a_stream(a_workload(Poisson{10})), 30'000)) ++calls[arrival.application];
  for (const int n : calls) EXPECT_NEAR(n, 10'000, 350);
}

TEST(ArrivalStream, CallsApplicationsByTheirWeights) {
  Workload workload = a_workload(Poisson{10});
  workload.mix = {{"translate", 3}, {"detect", 1}};
  std::vector<int> calls(3);
  for (const Arrival& arrival : take(a_stream(workload), 40'000)) ++calls[arrival.application];
  EXPECT_NEAR(calls[0], 10'000, 350);
  EXPECT_EQ(calls[1], 0);
  EXPECT_NEAR(calls[2], 30'000, 350);
}

TEST(ArrivalStream, KeepsItsInstantsWhenTheMixChanges) {
  Workload workload = a_workload(Renewal{10, 2});
  const auto uniform = take(a_stream(workload), 1000);
  workload.mix = {{"classify", 1}};
  const auto one = take(a_stream(workload), 1000);
  for (std::size_t i = 0; i < uniform.size(); ++i) {
    EXPECT_EQ(uniform[i].at, one[i].at);
    EXPECT_EQ(one[i].application, 1u);
  }
}

TEST(ArrivalStream, RefusesAMixThatFitsNoApplication) {
  Workload workload = a_workload(Poisson{10});
  workload.mix = {{"detekt", 1}};
  EXPECT_EQ(error_of(workload), "mix: there is no application 'detekt'; did you mean 'detect'?");
  workload.mix = {{"detect", -1}};
  EXPECT_EQ(error_of(workload), "mix.detect is -1; it must be from 0 to 1e+09");
  workload.mix = {{"detect", 0}};
  EXPECT_EQ(error_of(workload), "mix: no application has a positive weight");
  EXPECT_EQ(ArrivalStream::make(a_workload(Poisson{10}), {}, 1).error().message,
            "the workload calls no application; name at least one");
}

}  // namespace
}  // namespace sluice::workload
