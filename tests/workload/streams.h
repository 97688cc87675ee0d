// Short forms for tests of streams: make one or fail, take arrivals, sum them up.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "workload/stream.h"

namespace sluice::workload {

inline const std::vector<std::string> kApplications = {"detect", "classify", "translate"};
inline constexpr std::uint64_t kEndless = 1'000'000'000;

inline Workload a_workload(Arrivals arrivals, std::uint64_t requests = kEndless) {
  return {.arrivals = std::move(arrivals), .requests = requests, .warmup = 0};
}

inline ArrivalStream a_stream(const Workload& workload, std::uint64_t seed = 1, std::string_view trace = {}) {
  auto stream = ArrivalStream::make(workload, kApplications, seed, trace);
  EXPECT_TRUE(stream.ok()) << (stream.ok() ? "" : stream.error().message);
  return std::move(*stream);
}

inline std::string error_of(const Workload& workload, std::string_view trace = {}) {
  const auto stream = ArrivalStream::make(workload, kApplications, 1, trace);
  return stream.ok() ? "" : stream.error().message;
}

// At most `most` arrivals; checks that time never goes back.
inline std::vector<Arrival> take(ArrivalStream stream, std::size_t most = 10'000'000) {
  std::vector<Arrival> out;
  while (out.size() < most) {
    const auto arrival = stream.next();
    if (!arrival) break;
    EXPECT_TRUE(out.empty() || out.back().at <= arrival->at);
    out.push_back(*arrival);
  }
  return out;
}

struct Moments {
  double mean_s = 0, cv = 0;
};

// Of the gaps, the one before the first arrival among them.
inline Moments gaps_of(const std::vector<Arrival>& arrivals) {
  const double n = static_cast<double>(arrivals.size()), mean = arrivals.back().at.to_s() / n;
  double squares = 0;
  Duration before;
  for (const Arrival& arrival : arrivals) {
    const double off = (arrival.at - before).to_s() - mean;
    squares += off * off;
    before = arrival.at;
  }
  return {mean, std::sqrt(squares / n) / mean};
}

// Arrivals in [from, to).
inline double count_between(const std::vector<Arrival>& arrivals, Duration from, Duration to) {
  return static_cast<double>(
      std::ranges::count_if(arrivals, [&](const Arrival& a) { return from <= a.at && a.at < to; }));
}

}  // namespace sluice::workload
