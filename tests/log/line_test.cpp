// How lines of the log look.
#include "log/line.h"

#include <gtest/gtest.h>

#include "data/json.h"

namespace sluice::log {
namespace {

const Time kAt = Time::from_ns(1'767'323'045'678'901'234);  // 2026-01-02T03:04:05.678Z

TEST(Line, TextHasTimeLevelComponentAndRequest) {
  const Line line{
      .at = kAt, .level = Remark::Level::warning, .component = "requests", .request = "5b1f", .text = "it failed"};
  EXPECT_EQ(format(line, Format::text), "2026-01-02T03:04:05.678Z warning requests: it failed [request 5b1f]\n");
}

TEST(Line, TextWithoutARequestNamesNone) {
  const Line line{.at = kAt, .component = "server", .text = "stopped"};
  EXPECT_EQ(format(line, Format::text), "2026-01-02T03:04:05.678Z info server: stopped\n");
}

TEST(Line, PlainIsTheTextAlone) {
  EXPECT_EQ(format({.at = kAt, .component = "server", .text = "stopped"}, Format::plain), "stopped\n");
}

TEST(Line, JsonIsOneObject) {
  const Line line{
      .at = kAt, .level = Remark::Level::error, .component = "worker", .request = "5b1f", .text = "it said \"no\""};
  EXPECT_EQ(format(line, Format::json),
            "{\"time\":\"2026-01-02T03:04:05.678Z\",\"level\":\"error\",\"component\":\"worker\",\"request\":\"5b1f\","
            "\"message\":\"it said \\\"no\\\"\"}\n");
}

// What a function printed last is part of texts: it may be anything.
TEST(Line, WhateverTheTextIsItIsOneLineOfBoundedLength) {
  for (const std::string& text :
       {std::string("a\nb\r\nc"), std::string("\xff\xfe\x00z", 4), std::string(100'000, 'x')}) {
    for (const Format as : {Format::text, Format::json, Format::plain}) {
      const std::string line = format({.at = kAt, .component = "worker", .text = text}, as);
      EXPECT_EQ(line.find('\n'), line.size() - 1) << line.substr(0, 100);
      EXPECT_LT(line.size(), 5'000u);
      EXPECT_EQ(data::parse_json(line.substr(0, line.size() - 1)).ok(), as == Format::json) << line;
    }
  }
}

TEST(Line, LevelsAreFoundByTheirNames) {
  for (const auto level : {Remark::Level::debug, Remark::Level::info, Remark::Level::warning, Remark::Level::error}) {
    EXPECT_EQ(level_named(name_of(level)), level);
  }
  EXPECT_EQ(level_named("loud"), std::nullopt);
}

}  // namespace
}  // namespace sluice::log
