#include "workload/trace_lines.h"

#include <gtest/gtest.h>

#include "domain/limits.h"

namespace sluice::workload {

void PrintTo(const TraceError& error, std::ostream* out) {
  *out << error.line << ": " << error.message;
}

namespace {

using Errors = std::vector<TraceError>;

TEST(TraceLines, GivesTheHeaderAndEveryRowThatIsNotBlank) {
  std::vector<std::string> seen;
  const LineReader keep = [&](std::string_view line) {
    seen.emplace_back(line);
    return std::nullopt;
  };
  EXPECT_EQ(read_lines("\xEF\xBB\xBFhead\r\n\n \t\r\none\r\ntwo", keep, keep), Errors{});
  EXPECT_EQ(seen, (std::vector<std::string>{"head", "one", "two"}));
}

TEST(TraceLines, NumbersEveryError) {
  const LineReader fine = [](std::string_view) { return std::nullopt; };
  const LineReader picky = [](std::string_view line) -> std::optional<std::string> {
    return line == "x" ? std::nullopt : std::optional<std::string>(line);
  };
  EXPECT_EQ(read_lines("head\nx\n\nbad\nx\nworse", fine, picky), (Errors{{4, "bad"}, {6, "worse"}}));
  EXPECT_EQ(read_lines("\nhead\nbad\n", picky, picky), (Errors{{2, "head"}}));
  EXPECT_EQ(describe(Errors{{4, "bad"}, {6, "worse"}}, "a.csv"), "a.csv:4: bad\na.csv:6: worse");
}

TEST(TraceLines, RefusesEmptyTraces) {
  const LineReader fine = [](std::string_view) { return std::nullopt; };
  EXPECT_EQ(read_lines("", fine, fine), (Errors{{1, "the trace is empty; it must start with its header"}}));
  EXPECT_EQ(read_lines("\n\n", fine, fine), (Errors{{1, "the trace is empty; it must start with its header"}}));
  EXPECT_EQ(read_lines("\nhead\n", fine, fine), (Errors{{2, "the trace has a header but no rows"}}));
}

TEST(TraceLines, BoundsLinesRowsErrorsAndText) {
  const LineReader fine = [](std::string_view) { return std::nullopt; };
  const LineReader never = [](std::string_view) { return "no"; };
  EXPECT_EQ(read_lines("head\n" + std::string(70'000, 'x') + "\nrow\n", fine, fine),
            (Errors{{2, "the line has 70000 bytes; the most is 65536"}}));

  std::string rows = "head\n";
  for (std::size_t i = 0; i <= limits::trace_rows_max; ++i) rows += "r\n";
  EXPECT_EQ(read_lines(rows, fine, never).size(), limits::errors_reported_max);
  EXPECT_EQ(read_lines(rows, fine, fine),
            (Errors{{limits::trace_rows_max + 2, "more rows than 5000000; split the trace"}}));
  rows.clear();
  rows.resize(limits::trace_bytes_max + 1);
  EXPECT_EQ(read_lines(rows, fine, fine), (Errors{{1, "the trace has 268435457 bytes; the most is 268435456"}}));
}

TEST(TraceLines, CutsFieldsAtCommas) {
  std::string_view rest = "a,,b";
  EXPECT_EQ(count_fields(rest), 3u);
  EXPECT_EQ(take_field(rest), "a");
  EXPECT_EQ(take_field(rest), "");
  EXPECT_EQ(take_field(rest), "b");
  EXPECT_EQ(take_field(rest), "");
}

TEST(TraceLines, ReadsCounts) {
  std::uint32_t out = 5;
  EXPECT_EQ(read_count("count", "1000000000", out), std::nullopt);
  EXPECT_EQ(out, 1'000'000'000u);
  for (const std::string bad : {"-1", "1.5", "", " 1", "1000000001", "99999999999999999999", "x"}) {
    EXPECT_EQ(read_count("count", bad, out), "count is '" + bad + "'; it must be a whole number from 0 to 1000000000");
  }
}

}  // namespace
}  // namespace sluice::workload
