#include "data/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"

namespace sluice::data {
namespace {

Json parsed(std::string_view text) {
  auto json = parse_json(text);
  EXPECT_TRUE(json.ok()) << text << ": " << (json.ok() ? "" : json.error().message);
  return json.ok() ? std::move(*json) : Json{};
}
std::string refused(std::string_view text) {
  const auto json = parse_json(text);
  EXPECT_FALSE(json.ok()) << text;
  return json.ok() ? "" : json.error().message;
}
std::string again(std::string_view text) {
  return to_text(parsed(text));
}

TEST(Json, ReadsEveryKindOfValue) {
  const Json json = parsed(R"( { "a" : [ 1 , -2.5 , true , false , null ] , "b" : { } , "c" : "text" } )");
  ASSERT_NE(json.find("a"), nullptr);
  EXPECT_EQ(*json.find("a"), (Json{JsonArray{{std::int64_t{1}}, {-2.5}, {true}, {false}, {nullptr}}}));
  EXPECT_EQ(*json.find("b"), Json{JsonObject{}});
  EXPECT_EQ(*json.find("c"), Json{std::string("text")});
  EXPECT_EQ(json.find("d"), nullptr);
  EXPECT_EQ(json.find("c")->find("a"), nullptr);
}

TEST(Json, KeepsTheOrderOfKeys) {
  EXPECT_EQ(again(R"({"z":1,"a":2,"m":[]})"), R"({"z":1,"a":2,"m":[]})");
}

TEST(Json, TellsWholeNumbersFromOthers) {
  EXPECT_EQ(parsed("9223372036854775807"), Json{std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(parsed("-9223372036854775808"), Json{std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(parsed("9223372036854775808"), Json{9223372036854775808.0});
  EXPECT_EQ(parsed("1.0"), Json{1.0});
  EXPECT_EQ(parsed("1e2"), Json{100.0});
  EXPECT_TRUE(std::signbit(*parsed("-0").as<double>()));
  EXPECT_EQ(again("[1,1.0,0.1,1e300,-0]"), "[1,1.0,0.1,1e+300,-0.0]");
}

TEST(Json, ReadsEscapes) {
  EXPECT_EQ(parsed(R"("\"\\\/\b\f\n\r\t\u0041\u00e4\u20ac\ud83d\ude00")"), Json{std::string("\"\\/\b\f\n\r\tAä€😀")});
  EXPECT_EQ(parsed(R"("\u0000")"), Json{std::string(1, '\0')});
  EXPECT_EQ(again("\"\\u0000\\u001f\\u007fä\""), "\"\\u0000\\u001f\x7fä\"");
}

TEST(Json, SaysAtWhichByteWhatIsWrong) {
  EXPECT_EQ(refused(""), "JSON, byte 1: a value is expected");
  EXPECT_EQ(refused("nul"), "JSON, byte 1: a value is expected");
  EXPECT_EQ(refused("[1,]"), "JSON, byte 4: a value is expected");
  EXPECT_EQ(refused("[1 2]"), "JSON, byte 4: `,` or `]` is expected");
  EXPECT_EQ(refused("[1"), "JSON, byte 3: `,` or `]` is expected");
  EXPECT_EQ(refused("{\"a\" 1}"), "JSON, byte 6: `:` is expected");
  EXPECT_EQ(refused("{a:1}"), "JSON, byte 2: a key in quotes is expected");
  EXPECT_EQ(refused("{\"a\":1"), "JSON, byte 7: `,` or `}` is expected");
  EXPECT_EQ(refused("{\"a\":1,\"b\":2,\"a\":3}"), "JSON, byte 20: key `a` is there twice");
  EXPECT_EQ(refused("1 2"), "JSON, byte 3: nothing may follow the value");
  EXPECT_EQ(refused(std::string_view("1\0", 2)), "JSON, byte 2: nothing may follow the value");
  EXPECT_EQ(refused("01"), "JSON, byte 2: a number must not begin with 0");
  EXPECT_EQ(refused("-"), "JSON, byte 2: a digit is expected");
  EXPECT_EQ(refused("1."), "JSON, byte 3: a digit is expected");
  EXPECT_EQ(refused("1e+"), "JSON, byte 4: a digit is expected");
  EXPECT_EQ(refused("1e999"), "JSON, byte 6: a number too large or too small");
  EXPECT_EQ(refused("NaN"), "JSON, byte 1: a value is expected");
  EXPECT_EQ(refused("\"a"), "JSON, byte 3: a text has no end");
  EXPECT_EQ(refused("\"a\nb\""), "JSON, byte 3: a control character in a text has to be escaped");
  EXPECT_EQ(refused("\"\\x\""), "JSON, byte 3: an escape that JSON does not have");
  EXPECT_EQ(refused("\"\\"), "JSON, byte 3: an escape that JSON does not have");
  EXPECT_EQ(refused("\"\\u12g4\""), "JSON, byte 4: four hexadecimal digits are expected");
  EXPECT_EQ(refused("\"\\u-123\""), "JSON, byte 4: four hexadecimal digits are expected");
  EXPECT_EQ(refused("\"\\ud800\""), "JSON, byte 8: half of a surrogate pair");
  EXPECT_EQ(refused("\"\\ud800\\u0041\""), "JSON, byte 14: half of a surrogate pair");
  EXPECT_EQ(refused("\"\\udc00\""), "JSON, byte 8: half of a surrogate pair");
  EXPECT_EQ(refused("\"\xff\""), "JSON, byte 3: a text is not UTF-8");
  EXPECT_EQ(refused("\"\xed\xa0\x80\""), "JSON, byte 5: a text is not UTF-8");
}

TEST(Json, NestsAsDeepAsItMayAndNoDeeper) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(again(nested(json_depth_max)), nested(json_depth_max));
  EXPECT_EQ(refused(nested(json_depth_max + 1)), "JSON, byte 65: more than 64 arrays and objects inside one another");
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')).ok());
}

TEST(Json, WritesWhatJsonCannotSayAsSomethingItCan) {
  EXPECT_EQ(to_text(Json{std::numeric_limits<double>::quiet_NaN()}), "null");
  EXPECT_EQ(to_text(Json{std::numeric_limits<double>::infinity()}), "null");
  EXPECT_EQ(to_text(Json{std::string("a\xff"
                                     "b\xc3")}),
            "\"a\ufffdb\ufffd\"");
  std::string out;
  append_number(out, 0.1f);
  EXPECT_EQ(out, "0.1");
}

TEST(Json, TakesNulForACharacterOfUtf8) {
  EXPECT_TRUE(utf8(std::string_view("a\0ä\0", 5)));
  EXPECT_FALSE(utf8(std::string_view("a\0\xff", 3)));
  EXPECT_FALSE(utf8(std::string_view("\xff\0a", 3)));
}

Json random_value(Rng& rng, int depth) {
  switch (rng.below(depth == 0 ? 5 : 7)) {
    case 0:
      return {nullptr};
    case 1:
      return {rng.below(2) == 0};
    case 2:
      return {static_cast<std::int64_t>(rng.next())};
    case 3:
      return {std::ldexp(static_cast<double>(rng.below(1 << 30)), static_cast<int>(rng.below(200)) - 100)};
    case 4: {
      std::string text;
      for (std::size_t i = rng.below(6); i > 0; --i) text += static_cast<char>(rng.below(128));
      return {text};
    }
    case 5: {
      JsonArray array;
      for (std::size_t i = rng.below(4); i > 0; --i) array.push_back(random_value(rng, depth - 1));
      return {array};
    }
    default: {
      JsonObject object;
      for (std::size_t i = rng.below(4); i > 0; --i)
        object.push_back({std::to_string(i), random_value(rng, depth - 1)});
      return {object};
    }
  }
}

TEST(Json, ReadsWhatItWrites) {
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    const Json json = random_value(rng, 4);
    ASSERT_EQ(parsed(to_text(json)), json) << to_text(json);
  }
}

TEST(Json, ReadsOrRefusesEveryBeginningAndEveryChangedByte) {
  const std::string text = R"({"a":[1,-2.5e3,"ä\u00e4\n",true,null,{"b":{}}]})";
  for (std::size_t length = 0; length < text.size(); ++length) EXPECT_FALSE(parse_json(text.substr(0, length)).ok());
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[at] = static_cast<char>(byte);
      const auto json = parse_json(changed);
      EXPECT_TRUE(!json || parsed(to_text(*json)) == *json);
    }
  }
}

}  // namespace
}  // namespace sluice::data
