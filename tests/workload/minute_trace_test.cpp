#include "workload/minute_trace.h"

#include "base/hash.h"
#include "workload/streams.h"

namespace sluice::workload {
namespace {

// f and g in minutes 7 and 8, h everywhere once.
const std::string kTrace =
    "HashOwner,HashApp,HashFunction,Trigger,7,8,9\n"
    "o,a,f,http,0,300,0\n"
    "o,a,g,http,100,0,0\n"
    "o,b,h,timer,1,1,1\n";
constexpr Duration kMinute = Duration::s(60);

Trace a_trace(std::map<std::string, std::string> mapping = {}) {
  return {.file = "t.csv", .mapping = std::move(mapping)};
}
const std::map<std::string, std::string> kMapping = {{"f", "translate"}, {"g", "detect"}, {"h", "detect"}};

std::vector<Arrival> play(const Trace& trace, const std::string& text = kTrace) {
  return take(a_stream(a_workload(trace), 1, text));
}

std::vector<std::size_t> calls_between(const std::vector<Arrival>& arrivals, Duration from, Duration to) {
  std::vector<std::size_t> calls(kApplications.size());
  for (const Arrival& a : arrivals) calls[a.application] += from <= a.at && a.at < to;
  return calls;
}

TEST(MinuteTrace, PlaysEveryRequestInItsMinute) {
  const auto arrivals = play(a_trace(kMapping));
  EXPECT_EQ(arrivals.size(), 403u);
  EXPECT_EQ(calls_between(arrivals, Duration{}, kMinute), (std::vector<std::size_t>{101, 0, 0}));
  EXPECT_EQ(calls_between(arrivals, kMinute, kMinute * 2), (std::vector<std::size_t>{1, 0, 300}));
  EXPECT_EQ(calls_between(arrivals, kMinute * 2, kMinute * 3), (std::vector<std::size_t>{1, 0, 0}));
}

// Sorted uniform instants have gaps with nearly the cv of a Poisson process, in every minute.
TEST(MinuteTrace, SpreadsRequestsLikeAPoissonProcess) {
  const auto arrivals = play(a_trace(), "HashOwner,HashApp,HashFunction,Trigger,1,2\no,a,f,http,100000,100000\n");
  const Moments gaps = gaps_of(arrivals);
  EXPECT_NEAR(gaps.mean_s * 200'000, 120, 0.01);
  EXPECT_NEAR(gaps.cv, 1, 0.01);
  for (int fifth = 0; fifth < 10; ++fifth)
    EXPECT_NEAR(count_between(arrivals, kMinute * (fifth / 5.0), kMinute * ((fifth + 1) / 5.0)), 20'000, 550);
}

TEST(MinuteTrace, MixesApplicationsEvenlyWithinAMinute) {
  const auto arrivals = play(a_trace({{"f", "detect"}, {"g", "classify"}}),
                             "HashOwner,HashApp,HashFunction,Trigger,1\no,a,f,http,9000\no,a,g,http,1000\n");
  const auto first_half = calls_between(arrivals, Duration{}, kMinute * 0.5);
  EXPECT_NEAR(static_cast<double>(first_half[0]), 4500, 200);
  EXPECT_NEAR(static_cast<double>(first_half[1]), 500, 70);
}

TEST(MinuteTrace, MapsFunctionsByHashWhereNothingIsSaid) {
  Hash hash;
  hash.add(std::string_view("f"));
  const auto by_hash = static_cast<std::uint32_t>(hash.value() % kApplications.size());
  const auto arrivals = play(a_trace({{"g", "detect"}, {"h", "detect"}}));
  EXPECT_EQ(std::ranges::count(arrivals, by_hash, &Arrival::application), by_hash == 0 ? 403 : 300);
}

TEST(MinuteTrace, PlaysSlowerByTheTimeScale) {
  Trace slow = a_trace(kMapping);
  slow.time_scale = 2.5;
  const auto fast = play(a_trace(kMapping)), slowed = play(slow);
  ASSERT_EQ(fast.size(), slowed.size());
  for (std::size_t i = 0; i < fast.size(); ++i) {
    EXPECT_NEAR(slowed[i].at.to_s(), fast[i].at.to_s() * 2.5, 1e-6);
    EXPECT_EQ(slowed[i].application, fast[i].application);
  }
}

TEST(MinuteTrace, MultipliesAndThinsByTheRateScale) {
  Trace trace = a_trace(kMapping);
  trace.rate_scale = 3;
  EXPECT_EQ(play(trace).size(), 1209u);
  trace.rate_scale = 0.5;  // 101, 300, and 1 three times: up or down
  const auto thinned = play(trace);
  EXPECT_EQ(std::ranges::count(thinned, 2u, &Arrival::application), 150);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(thinned, 0u, &Arrival::application)), 51.5, 1.5);
}

TEST(MinuteTrace, KeepsTheMeanOfCountsTooSmallToScale) {
  Trace trace = a_trace();
  trace.rate_scale = 0.3;
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed)
    sum += static_cast<double>(
        take(a_stream(a_workload(trace), seed, "HashOwner,HashApp,HashFunction,Trigger,1\no,a,f,http,1\n")).size());
  EXPECT_NEAR(sum / 5000, 0.3, 0.02);
}

TEST(MinuteTrace, GivesTheSameArrivalsEverywhere) {
  Trace trace = a_trace();
  trace.rate_scale = 24.81;
  Hash hash;
  const auto arrivals = play(trace);
  for (const Arrival& arrival : arrivals) {
    hash.add(arrival.at.count_ns());
    hash.add(arrival.application);
  }
  EXPECT_EQ(arrivals.size(), 9999u);
  EXPECT_EQ(hash.value(), 0x6e1e883838581a9u);
}

TEST(MinuteTrace, StopsWhereTheWorkloadHasEnough) {
  EXPECT_EQ(take(a_stream(a_workload(a_trace(), 10), 1, kTrace)).size(), 10u);
}

TEST(MinuteTrace, PlaysHugeMinutesWithoutHoldingThem) {
  Trace trace = a_trace();
  trace.rate_scale = 1e9;
  EXPECT_EQ(take(a_stream(a_workload(trace), 1, kTrace), 1000).size(), 1000u);
}

TEST(MinuteTrace, RefusesWhatItCannotPlay) {
  EXPECT_EQ(error_of(a_workload(a_trace()), ""), "t.csv:1: the trace is empty; it must start with its header");
  EXPECT_EQ(error_of(a_workload(a_trace()), "HashOwner,HashApp,HashFunction,Trigger,1\no,a,f,http,0\n"),
            "every count of the trace is 0");
  EXPECT_EQ(error_of(a_workload(a_trace({{"k", "detect"}})), kTrace), "mapping: the trace has no function 'k'");
  EXPECT_EQ(error_of(a_workload(a_trace({{"f", "detekt"}})), kTrace),
            "mapping: there is no application 'detekt'; did you mean 'detect'?");
  Trace trace = a_trace();
  trace.rate_scale = 1e9;
  EXPECT_EQ(error_of(a_workload(trace), "HashOwner,HashApp,HashFunction,Trigger,7,8\no,a,f,http,1,2000000\n"),
            "rate_scale 1e+09 gives 2e+15 requests in minute 8; the most is 1e+15");
  trace.time_scale = 0;
  EXPECT_EQ(error_of(a_workload(trace), kTrace), "time_scale is 0; it must be from 1e-09 to 1e+09");
  Workload mixed = a_workload(a_trace());
  mixed.mix = {{"detect", 1}};
  EXPECT_EQ(error_of(mixed, kTrace), "mix: the trace says which function is called; write a mapping instead");
}

}  // namespace
}  // namespace sluice::workload
