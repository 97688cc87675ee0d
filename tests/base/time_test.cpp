#include "base/time.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/money.h"

namespace sluice {
namespace {

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(parse_duration("420ms"), Duration::ms(420));
  EXPECT_EQ(parse_duration("1.5s"), Duration::ms(1500));
  EXPECT_EQ(parse_duration("2m"), Duration::s(120));
  EXPECT_EQ(parse_duration("3h"), Duration::s(10'800));
  EXPECT_EQ(parse_duration("16.8ms"), Duration::us(16'800));
  EXPECT_EQ(parse_duration("250us"), Duration::us(250));
  EXPECT_EQ(parse_duration("10ns"), Duration::ns(10));
  EXPECT_EQ(parse_duration("-3s"), Duration::s(-3));
}

TEST(Duration, RefusesWhatIsNotADuration) {
  for (const char* text :
       {"", "420", "ms", "4 ms", "4ms ", "nans", "infs", "1e30h", "0x10ms", "4days", "1.2.3s", "--4ms"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Duration, WritesWhatItReadsBack) {
  EXPECT_EQ(to_string(Duration::ms(420)), "420ms");
  EXPECT_EQ(to_string(Duration::ms(1500)), "1.5s");
  EXPECT_EQ(to_string(Duration::us(16'800)), "16.8ms");
  EXPECT_EQ(to_string(Duration{}), "0ms");
  for (std::int64_t ns :
       {1l, 999l, 1'001l, 123'456'789l, 60'000'000'000l, 86'400'000'000'000l, -1'500'000l, 31'536'000'000'000'001l}) {
    EXPECT_EQ(parse_duration(to_string(Duration::ns(ns))), Duration::ns(ns)) << ns;
  }
}

TEST(Bytes, ReadsAndWritesEveryUnit) {
  EXPECT_EQ(parse_bytes("600MB"), Bytes(600'000'000));
  EXPECT_EQ(parse_bytes("2.5GB"), Bytes(2'500'000'000));
  EXPECT_EQ(parse_bytes("1GiB"), Bytes(1 << 30));
  EXPECT_EQ(parse_bytes("12B"), Bytes(12));
  EXPECT_EQ(parse_bytes("600"), std::nullopt);
  EXPECT_EQ(parse_bytes("6mb"), std::nullopt);
  for (std::int64_t count : {0l, 1l, 147'000l, 2'700'000l, 1'073'741'824l, 40'000'000'000l, 123'456'789'012'345l}) {
    EXPECT_EQ(parse_bytes(to_string(Bytes(count))), Bytes(count)) << count;
  }
}

TEST(PicoDollars, RoundsToTheNearest) {
  EXPECT_EQ(PicoDollars::from_dollars(1.5e-12).count(), 2);
  EXPECT_EQ(PicoDollars::from_dollars(0.67).count(), 670'000'000'000);
  EXPECT_DOUBLE_EQ(PicoDollars(1'000'000'000'000).to_dollars(), 1.0);
}

}  // namespace
}  // namespace sluice
