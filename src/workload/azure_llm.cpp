#include "workload/azure_llm.h"

#include <array>

#include "base/text.h"

namespace sluice::workload {
namespace {

using Problem = std::optional<std::string>;
constexpr std::string_view kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens";
constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";  // d: a digit

bool has_shape(std::string_view text) {
  if (text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kShape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != kShape[i]) return false;
  }
  return true;
}

bool is_leap(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Leap years before `year`, counted from the year 1.
std::int64_t leaps_before(std::int64_t year) {
  return (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
}

// Days from 1970-01-01 to the date; nothing if there is no such date.
std::optional<std::int64_t> days_until(std::int64_t year, std::int64_t month, std::int64_t day) {
  constexpr std::array<std::int64_t, 13> kBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  if (year < 1970 || year > 2199 || month < 1 || month > 12) return std::nullopt;
  const auto m = static_cast<std::size_t>(month);
  const std::int64_t leap_day = is_leap(year) ? 1 : 0;
  const std::int64_t length = kBefore[m] - kBefore[m - 1] + (month == 2 ? leap_day : 0);
  if (day < 1 || day > length) return std::nullopt;
  const std::int64_t years = 365 * (year - 1970) + leaps_before(year) - leaps_before(1970);
  return years + kBefore[m - 1] + (month > 2 ? leap_day : 0) + day - 1;
}

// ".9799600" as nanoseconds.
std::optional<std::int64_t> parse_fraction(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() != '.' || text.size() < 2 || text.size() > 10) return std::nullopt;
  std::int64_t ns = 0;
  for (std::size_t i = 1; i < 10; ++i) {
    const char digit = i < text.size() ? text[i] : '0';
    if (digit < '0' || digit > '9') return std::nullopt;
    ns = ns * 10 + (digit - '0');
  }
  return ns;
}

Problem read_row(std::string_view line, AzureLlm& out) {
  if (const std::size_t fields = count_fields(line); fields != 3) return str("the row has ", fields, " fields, not 3");
  LlmRequest row;
  const std::string_view timestamp = take_field(line);
  const std::optional<Time> at = parse_timestamp(timestamp);
  if (!at) return str("TIMESTAMP is '", printable(timestamp), "'; write it like 2023-11-16 18:17:03.9799600");
  row.at = *at;
  if (Problem problem = read_count("ContextTokens", take_field(line), row.context_tokens)) return problem;
  if (Problem problem = read_count("GeneratedTokens", take_field(line), row.generated_tokens)) return problem;
  if (!out.rows.empty() && row.at < out.rows.back().at) {
    return str("TIMESTAMP ", timestamp, " is before that of the row above; sort the trace by time");
  }
  out.rows.push_back(row);
  return std::nullopt;
}

}  // namespace

std::optional<Time> parse_timestamp(std::string_view text) {
  const std::string_view whole = text.substr(0, kShape.size());
  if (!has_shape(whole)) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t length) { return *parse_int(whole.substr(at, length)); };
  const auto days = days_until(number(0, 4), number(5, 2), number(8, 2));
  const auto fraction_ns = parse_fraction(text.substr(kShape.size()));
  const std::int64_t hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (!days || !fraction_ns || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const std::int64_t seconds = ((*days * 24 + hour) * 60 + minute) * 60 + second;
  return Time::from_ns(seconds * 1'000'000'000 + *fraction_ns);
}

AzureLlm read_azure_llm(std::string_view text) {
  AzureLlm out;
  const LineReader header = [](std::string_view line) -> Problem {
    if (line == kHeader) return std::nullopt;
    return str("the header is '", printable(line), "'; it must be ", kHeader);
  };
  out.errors = read_lines(text, header, [&](std::string_view line) { return read_row(line, out); });
  return out;
}

}  // namespace sluice::workload
