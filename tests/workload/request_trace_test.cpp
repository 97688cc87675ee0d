#include "workload/request_trace.h"

#include "base/hash.h"
#include "workload/streams.h"

namespace sluice::workload {
namespace {

const std::string kTrace =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:17:03.5000000,100,10\n"
    "2023-11-16 18:17:03.7500001,200,10\n"
    "2023-11-16 18:17:13.5000000,300,10\n";

Trace a_trace(double rate_scale = 1, double time_scale = 1) {
  return {.format = TraceFormat::azure_llm_2023, .file = "t.csv", .time_scale = time_scale, .rate_scale = rate_scale};
}

std::vector<Arrival> play(const Trace& trace, std::uint64_t seed = 1) {
  return take(a_stream(a_workload(trace), seed, kTrace));
}

TEST(RequestTrace, PlaysRequestsAtTheirTimes) {
  const auto arrivals = play(a_trace());
  ASSERT_EQ(arrivals.size(), 3u);
  EXPECT_EQ(arrivals[0].at, Duration{});
  EXPECT_EQ(arrivals[1].at, Duration::ns(250'000'100));
  EXPECT_EQ(arrivals[2].at, Duration::s(10));
}

TEST(RequestTrace, PlaysSlowerByTheTimeScale) {
  const auto arrivals = play(a_trace(1, 3));
  EXPECT_EQ(arrivals[1].at, Duration::ns(750'000'300));
  EXPECT_EQ(arrivals[2].at, Duration::s(30));
}

TEST(RequestTrace, DrawsApplicationsFromTheMix) {
  Workload workload = a_workload(a_trace(1000));
  workload.mix = {{"classify", 1}, {"translate", 1}};
  std::vector<int> calls(3);
  for (const Arrival& arrival : take(a_stream(workload, 1, kTrace))) ++calls[arrival.application];
  EXPECT_EQ(calls[0], 0);
  EXPECT_NEAR(calls[1], 1500, 120);
}

TEST(RequestTrace, RepeatsRequestsWithinTheGapThatFollows) {
  const auto arrivals = play(a_trace(100));
  ASSERT_EQ(arrivals.size(), 300u);
  EXPECT_EQ(arrivals[0].at, Duration{});
  EXPECT_EQ(arrivals[100].at, Duration::ns(250'000'100));
  EXPECT_EQ(arrivals[200].at, Duration::s(10));
  EXPECT_GT(arrivals[99].at, Duration::ms(200));
  EXPECT_GT(arrivals[199].at, Duration::s(4.5));  // at most the mean gap of 5 s later, though the gap is 9.75 s
  EXPECT_LT(arrivals[199].at, Duration::s(5.26));
  EXPECT_GT(arrivals[299].at, Duration::s(14.5));
  EXPECT_LT(arrivals[299].at, Duration::s(15));
}

TEST(RequestTrace, ThinsByTheRateScale) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) sum += static_cast<double>(play(a_trace(0.25), seed).size());
  EXPECT_NEAR(sum / 4000, 0.75, 0.04);
}

TEST(RequestTrace, GivesTheSameArrivalsEverywhere) {
  Hash hash;
  for (const Arrival& arrival : play(a_trace(333.3, 1.7))) {
    hash.add(arrival.at.count_ns());
    hash.add(arrival.application);
  }
  EXPECT_EQ(hash.value(), 0x6c4ee0cf241982cu);
}

TEST(RequestTrace, RefusesWhatItCannotPlay) {
  EXPECT_EQ(error_of(a_workload(a_trace()), "x"),
            "t.csv:1: the header is 'x'; it must be TIMESTAMP,ContextTokens,GeneratedTokens");
  EXPECT_EQ(error_of(a_workload(a_trace(0)), kTrace), "rate_scale is 0; it must be from 1e-09 to 1e+09");
  Trace mapped = a_trace();
  mapped.mapping = {{"f", "detect"}};
  EXPECT_EQ(error_of(a_workload(mapped), kTrace), "mapping: the trace names no functions; write a mix instead");
}

}  // namespace
}  // namespace sluice::workload
