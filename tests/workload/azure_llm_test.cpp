#include "workload/azure_llm.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace sluice::workload {
namespace {

const std::string kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\n";

std::string errors_in(const std::string& text) {
  return describe(read_azure_llm(text).errors, "t");
}

TEST(AzureLlm, ReadsARowPerRequest) {
  const AzureLlm trace = read_azure_llm(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n"
      "2023-11-16 18:17:03.9799600,0,0\r\n2023-11-17 00:00:00,3,1");
  ASSERT_TRUE(trace.ok()) << trace.errors[0].message;
  EXPECT_EQ(trace.rows, (std::vector<LlmRequest>{{Time::from_ns(1'700'158'623'979'960'000), 4808, 10},
                                                 {Time::from_ns(1'700'158'623'979'960'000), 0, 0},
                                                 {Time::from_ns(1'700'179'200'000'000'000), 3, 1}}));
}

TEST(AzureLlm, SaysTheLineOfEveryError) {
  EXPECT_EQ(errors_in(kHeader + "2023-11-16 18:17:03.5,1,1\n"
                                "2023-11-16 18:17:03.4,1,1\n"
                                "2023-11-16 18:17:03.5,1\n"
                                "2023-11-16 18:17:03.5,-1,1\n"
                                "2023-11-16 18:17:03.5,1,x\n"
                                "yesterday,1,1\n"
                                "2023-11-16 18:17:03.6,1,1\n"),
            "t:3: TIMESTAMP 2023-11-16 18:17:03.4 is before that of the row above; sort the trace by time\n"
            "t:4: the row has 2 fields, not 3\n"
            "t:5: ContextTokens is '-1'; it must be a whole number from 0 to 1000000000\n"
            "t:6: GeneratedTokens is 'x'; it must be a whole number from 0 to 1000000000\n"
            "t:7: TIMESTAMP is 'yesterday'; write it like 2023-11-16 18:17:03.9799600");
}

TEST(AzureLlm, RefusesOtherHeadersAndEmptyTraces) {
  EXPECT_EQ(errors_in("TIMESTAMP,ContextTokens\n2023-11-16 18:17:03,1\n"),
            "t:1: the header is 'TIMESTAMP,ContextTokens'; it must be TIMESTAMP,ContextTokens,GeneratedTokens");
  EXPECT_EQ(errors_in(kHeader), "t:1: the trace has a header but no rows");
  EXPECT_EQ(errors_in(""), "t:1: the trace is empty; it must start with its header");
}

TEST(Timestamp, CountsLeapYears) {
  constexpr std::int64_t kDay = 86'400'000'000'000;
  EXPECT_EQ(parse_timestamp("1970-01-01 00:00:00"), Time::from_ns(0));
  EXPECT_EQ(parse_timestamp("1970-12-31 00:00:00.000000001"), Time::from_ns(364 * kDay + 1));
  EXPECT_EQ(parse_timestamp("2000-02-29 00:00:00"), Time::from_ns(11'016 * kDay));
  EXPECT_EQ(parse_timestamp("2000-03-01 00:00:00"), Time::from_ns(11'017 * kDay));
  EXPECT_EQ(parse_timestamp("2024-12-31 23:59:59.9"), Time::from_ns(20'089 * kDay - 100'000'000));
  EXPECT_EQ(parse_timestamp("2199-12-31 00:00:00"), Time::from_ns(84'005 * kDay));
}

TEST(Timestamp, RefusesWhatIsNone) {
  for (const std::string_view text : {"",
                                      "2023-11-16",
                                      "2023-11-16T18:17:03",
                                      "2023-11-16 18:17:03.",
                                      "2023-11-16 18:17:03.1234567890",
                                      "2023-11-16 18:17:03.1x",
                                      "2023-11-16 18:17:03Z",
                                      "2023-13-16 18:17:03",
                                      "2023-00-16 18:17:03",
                                      "2023-02-29 18:17:03",
                                      "2100-02-29 18:17:03",
                                      "2023-04-31 18:17:03",
                                      "2023-11-00 18:17:03",
                                      "2023-11-16 24:17:03",
                                      "2023-11-16 18:60:03",
                                      "2023-11-16 18:17:60",
                                      "1969-11-16 18:17:03",
                                      "2200-11-16 18:17:03",
                                      "2023-11-16 18:17:-3",
                                      "+023-11-16 18:17:03",
                                      " 2023-11-16 18:17:03"}) {
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
  }
}

TEST(AzureLlm, SurvivesDamagedText) {
  Rng rng(1);
  const std::string whole = kHeader + "2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n";
  int damaged = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::string text = whole;
    for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) {
      const std::size_t at = rng.below(text.size());
      rng.chance(.5) ? text.insert(at, 1, static_cast<char>(rng.below(256))) : text.erase(at, 1 + rng.below(3));
    }
    const AzureLlm trace = read_azure_llm(text);
    damaged += !trace.ok();
    for (const TraceError& error : trace.errors) ASSERT_TRUE(error.line >= 1 && !error.message.empty());
    for (std::size_t i = 1; i < trace.rows.size(); ++i) ASSERT_LE(trace.rows[i - 1].at, trace.rows[i].at);
  }
  EXPECT_GT(damaged, 2'000);
}

}  // namespace
}  // namespace sluice::workload
