#include "workload/azure_functions.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace sluice::workload {
namespace {

const std::string kHeader = "HashOwner,HashApp,HashFunction,Trigger,480,481,482\n";

std::string errors_in(const std::string& text) {
  return describe(read_azure_functions(text).errors, "t");
}

TEST(AzureFunctions, ReadsARowPerFunction) {
  const AzureFunctions trace = read_azure_functions(kHeader + "o,a,f,http,0,12,3\r\no,a,g,,1,0,0");
  ASSERT_TRUE(trace.ok()) << trace.errors[0].message;
  EXPECT_EQ(trace.first_minute, 480);
  EXPECT_EQ(trace.minutes, 3u);
  EXPECT_EQ(trace.rows, (std::vector<FunctionCounts>{{"f", {0, 12, 3}}, {"g", {1, 0, 0}}}));
}

TEST(AzureFunctions, SaysTheLineOfEveryError) {
  EXPECT_EQ(errors_in(kHeader +
                      "o,a,f,http,0,-1,3\n"
                      "o,a,f,http,0,1,3\n"
                      "o,a,f,http,0,1\n"
                      "o,a,f,http,0,1,2,3\n"
                      "o,a,,http,0,1,2\n"
                      "o,a,f,http,0,1,1.5\n"
                      "o,a,f,http,,1,1\n"
                      "o,a,f,http,0,1,4294967296\n" +
                      "o,a," + std::string(129, 'f') + ",http,0,1,2\n\x01\n"),
            "t:2: the count of minute 481 is '-1'; it must be a whole number from 0 to 1000000000\n"
            "t:4: the row has 6 fields, the header has 7\n"
            "t:5: the row has 8 fields, the header has 7\n"
            "t:6: HashFunction has 0 bytes; it must have 1 to 128\n"
            "t:7: the count of minute 482 is '1.5'; it must be a whole number from 0 to 1000000000\n"
            "t:8: the count of minute 480 is ''; it must be a whole number from 0 to 1000000000\n"
            "t:9: the count of minute 482 is '4294967296'; it must be a whole number from 0 to 1000000000\n"
            "t:10: HashFunction has 129 bytes; it must have 1 to 128\n"
            "t:11: the row has 1 fields, the header has 7");
}

TEST(AzureFunctions, RefusesOtherHeaders) {
  EXPECT_EQ(errors_in("HashOwner,HashApp,HashFunktion,Trigger,1\no,a,f,http,1\n"),
            "t:1: the header has 'HashFunktion' where HashFunction must be; it starts "
            "HashOwner,HashApp,HashFunction,Trigger and continues with minutes");
  EXPECT_EQ(errors_in("HashOwner,HashApp,HashFunction,Trigger\no,a,f,http\n"), "t:1: the header has no minutes");
  EXPECT_EQ(errors_in("HashOwner,HashApp,HashFunction,Trigger,1,3\no,a,f,http,1,1\n"),
            "t:1: the header has minute 3 where 2 must follow");
  EXPECT_EQ(errors_in("HashOwner,HashApp,HashFunction,Trigger,Average\no,a,f,http,1\n"),
            "t:1: the header of a minute is 'Average'; it must be a whole number from 0 to 1000000000");
  EXPECT_EQ(errors_in(kHeader), "t:1: the trace has a header but no rows");
}

TEST(AzureFunctions, SurvivesDamagedText) {
  Rng rng(1);
  const std::string whole = kHeader + "o,a,f,http,0,12,3\no,a,g,timer,1,0,0\no,b,h,queue,7,8,9\n";
  int damaged = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::string text = whole;
    for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) {
      const std::size_t at = rng.below(text.size());
      rng.chance(.5) ? text.insert(at, 1, static_cast<char>(rng.below(256))) : text.erase(at, 1 + rng.below(3));
    }
    const AzureFunctions trace = read_azure_functions(text);
    damaged += !trace.ok();
    for (const TraceError& error : trace.errors) ASSERT_TRUE(error.line >= 1 && !error.message.empty());
    if (!trace.ok()) continue;
    for (const FunctionCounts& row : trace.rows) ASSERT_EQ(row.minutes.size(), trace.minutes);
  }
  EXPECT_GT(damaged, 2'000);
}

}  // namespace
}  // namespace sluice::workload
