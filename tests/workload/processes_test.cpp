#include "workload/processes.h"

#include "workload/streams.h"

namespace sluice::workload {
namespace {

constexpr std::size_t kMany = 400'000;

TEST(UniformGaps, LieBetweenTheBoundsAndMeetTheMean) {
  const auto arrivals = take(a_stream(a_workload(UniformGap{Duration::ms(10), Duration::ms(16.8)})), kMany);
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    const Duration gap = arrivals[i].at - arrivals[i - 1].at;
    ASSERT_TRUE(gap >= Duration::ms(10) && gap <= Duration::ms(16.8)) << to_string(gap);
  }
  const Moments gaps = gaps_of(arrivals);
  EXPECT_NEAR(gaps.mean_s, 13.4e-3, 1.6e-5);  // five standard errors
  EXPECT_NEAR(gaps.cv, 6.8 / std::sqrt(12) / 13.4, 1e-3);
}

TEST(UniformGaps, MayBeAllTheSame) {
  const auto arrivals = take(a_stream(a_workload(UniformGap{Duration::ms(5), Duration::ms(5)})), 3);
  EXPECT_EQ(arrivals[0].at, Duration::ms(5));
  EXPECT_EQ(arrivals[2].at, Duration::ms(15));
}

TEST(PoissonArrivals, HaveExponentialGaps) {
  const auto arrivals = take(a_stream(a_workload(Poisson{74.6})), kMany);
  const Moments gaps = gaps_of(arrivals);
  EXPECT_NEAR(gaps.mean_s * 74.6, 1, 0.005);
  EXPECT_NEAR(gaps.cv, 1, 0.01);
  double longer = 0;
  for (std::size_t i = 1; i < arrivals.size(); ++i) longer += (arrivals[i].at - arrivals[i - 1].at).to_s() * 74.6 > 2;
  EXPECT_NEAR(longer / kMany, std::exp(-2), 0.003);
}

TEST(PoissonArrivals, KeepTheirRateEvenWhereANanosecondIsLong) {
  EXPECT_NEAR(gaps_of(take(a_stream(a_workload(Poisson{1e9})), kMany)).mean_s, 1e-9, 1e-11);
}

TEST(RenewalArrivals, MeetMeanAndCoefficientOfVariation) {
  for (const double cv : {0.0, 0.1, 0.5, 1.0, 1.5, 3.0, 6.0}) {
    const Moments gaps = gaps_of(take(a_stream(a_workload(Renewal{20, cv})), 2'000'000));
    EXPECT_NEAR(gaps.mean_s * 20, 1, 0.002 + 0.003 * cv) << cv;
    EXPECT_NEAR(gaps.cv, cv, 0.01 * cv + 1e-6) << cv;
  }
}

TEST(RenewalArrivals, WithCvOneArePoisson) {
  EXPECT_EQ(take(a_stream(a_workload(Renewal{20, 1})), 1000), take(a_stream(a_workload(Poisson{20})), 1000));
}

TEST(OnOffArrivals, MeetTheMeanOfBothRates) {
  const OnOff on_off{.on_rate = 100, .off_rate = 10, .on = Duration::s(2), .off = Duration::s(6)};
  const double rate = (100 * 2 + 10 * 6) / 8.0;
  EXPECT_NEAR(gaps_of(take(a_stream(a_workload(on_off)), 2'000'000)).mean_s * rate, 1, 0.03);
}

// A two-state process has the variance of counts that the theory says: index of dispersion of long windows
// 1 + 2 (r1 - r2)² p q T / mean rate, with T = 1 / (1/on + 1/off), p and q the shares of time.
TEST(OnOffArrivals, AreAsBurstyAsTheirPeriodsSay) {
  const OnOff on_off{.on_rate = 50, .off_rate = 0, .on = Duration::s(1), .off = Duration::s(3)};
  const auto arrivals = take(a_stream(a_workload(on_off)), 2'000'000);
  constexpr double kWindow = 40;
  std::vector<double> counts(static_cast<std::size_t>(arrivals.back().at.to_s() / kWindow));
  for (const Arrival& a : arrivals) {
    if (const auto window = static_cast<std::size_t>(a.at.to_s() / kWindow); window < counts.size()) ++counts[window];
  }
  double sum = 0, squares = 0;
  for (const double n : counts) sum += n, squares += n * n;
  const double n = static_cast<double>(counts.size()), mean = sum / n;
  const double tau = 0.75, mean_rate = 12.5;
  const double expected =
      1 + 2 * 50 * 50 * 0.25 * 0.75 * tau / mean_rate * (1 - tau / kWindow * (1 - std::exp(-kWindow / tau)));
  EXPECT_NEAR((squares / n - mean * mean) / mean / expected, 1, 0.06);
}

TEST(OnOffArrivals, WithoutAnOffPeriodArePoisson) {
  const Moments gaps = gaps_of(take(a_stream(a_workload(OnOff{.on_rate = 30, .on = Duration::s(1)})), kMany));
  EXPECT_NEAR(gaps.mean_s * 30, 1, 0.006);
  EXPECT_NEAR(gaps.cv, 1, 0.01);
}

TEST(DiurnalArrivals, FollowTheSine) {
  const Diurnal diurnal{.rate = 50, .amplitude = 0.8, .period = Duration::s(4000)};
  const auto arrivals = take(a_stream(a_workload(diurnal)), 800'000);  // four periods
  constexpr double kPi = 3.14159265358979;
  for (int eighth = 0; eighth < 24; ++eighth) {
    const double from = eighth / 8.0, to = (eighth + 1) / 8.0;
    const double share = (to - from) + 0.8 / (2 * kPi) * (std::cos(2 * kPi * from) - std::cos(2 * kPi * to));
    const double expected = 50 * 4000 * share;
    EXPECT_NEAR(count_between(arrivals, diurnal.period * from, diurnal.period * to), expected,
                4.5 * std::sqrt(expected))
        << eighth;
  }
}

TEST(Listed, AreTheInstantsThatWereWrittenDown) {
  const auto arrivals = take(a_stream(a_workload(Listed{{Duration{}, Duration::ms(3), Duration::ms(3)}})), 4);
  ASSERT_EQ(arrivals.size(), 3u);
  EXPECT_EQ(arrivals[0].at, Duration{});
  EXPECT_EQ(arrivals[1].at, Duration::ms(3));
  EXPECT_EQ(arrivals[2].at, Duration::ms(3));
  EXPECT_EQ(error_of(a_workload(Listed{{Duration::ms(3), Duration::ms(2)}})), "the listed arrivals are not in order");
  EXPECT_EQ(error_of(a_workload(Listed{{-Duration::ms(3)}})), "the first listed arrival is before the start");
}

TEST(Processes, RefuseNumbersOutOfRange) {
  const auto refused = [](const Arrivals& arrivals) { return error_of(a_workload(arrivals)); };
  EXPECT_EQ(refused(Poisson{0}), "rate is 0; it must be from 1e-06 to 1e+09");
  EXPECT_EQ(refused(Poisson{std::nan("")}), "rate is nan; it must be from 1e-06 to 1e+09");
  EXPECT_EQ(refused(Renewal{1, -1}), "cv is -1; it must be from 0 to 100");
  EXPECT_EQ(refused(Renewal{1e10, 1}), "rate is 1e+10; it must be from 1e-06 to 1e+09");
  EXPECT_EQ(refused(UniformGap{Duration::ms(2), Duration::ms(1)}),
            "the longest gap is 1ms; it must be from 2ms to 31622400s");
  EXPECT_EQ(refused(UniformGap{}), "the longest gap is 0ms; it must be from 1ns to 31622400s");
  EXPECT_EQ(refused(UniformGap{-Duration::ms(1), Duration::ms(1)}),
            "the shortest gap is -1ms; it must be from 0ms to 31622400s");
  EXPECT_EQ(refused(Diurnal{.amplitude = 1.5}), "amplitude is 1.5; it must be from 0 to 1");
  EXPECT_EQ(refused(Diurnal{.period = Duration{}}), "period is 0ms; it must be from 1ns to 31622400s");
  EXPECT_EQ(refused(OnOff{.on = Duration{}}), "on is 0ms; it must be from 1ns to 31622400s");
  EXPECT_EQ(refused(OnOff{.off_rate = -1, .on = Duration::s(1)}), "off_rate is -1; it must be from 0 to 1e+09");
}

TEST(Processes, RefusePeriodsThatAlmostNeverHaveARequest) {
  EXPECT_EQ(error_of(a_workload(OnOff{.on_rate = 1, .on = Duration::ns(1), .off = Duration::ns(1)})),
            "an on and an off period have 1e-09 requests on average; it must be 1e-06 or more, so make them longer");
}

}  // namespace
}  // namespace sluice::workload
