#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace sluice {
namespace {

TEST(Text, ParsesNumbersThatFillTheText) {
  EXPECT_EQ(parse_double("1.5"), 1.5);
  EXPECT_EQ(parse_double("+2e3"), 2000);
  EXPECT_EQ(parse_int("-42"), -42);
  for (const char* text : {"", "nan", "inf", "1e999", "0x1p3", " 1", "1 ", "1,5"})
    EXPECT_EQ(parse_double(text), std::nullopt) << text;
  for (const char* text : {"", "1.0", "9223372036854775808", "1e3"}) EXPECT_EQ(parse_int(text), std::nullopt) << text;
}

TEST(Text, KnowsWellFormedUtf8) {
  EXPECT_TRUE(valid_utf8("naïve – 漢字 😀"));
  for (const char* text : {"\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82", "a\x80"})
    EXPECT_FALSE(valid_utf8(text));
  EXPECT_FALSE(valid_utf8(std::string_view("a\0b", 3)));
}

TEST(Text, MakesHostileTextPrintable) {
  EXPECT_EQ(printable("ok\n\x1b[31m\xff"), "ok\\x0a\\x1b[31m\\xff");
  EXPECT_EQ(printable("abcdef", 3), "abc…");
}

TEST(Text, SuggestsTheNearestName) {
  const std::array<std::string_view, 3> known = {"latency", "percentile", "cost"};
  EXPECT_EQ(nearest("latncy", known), "latency");
  EXPECT_EQ(nearest("latecny", known), "latency");
  EXPECT_EQ(nearest("percentil", known), "percentile");
  EXPECT_EQ(nearest("colour", known), std::nullopt);
  EXPECT_EQ(nearest("", known), std::nullopt);
}

}  // namespace
}  // namespace sluice
