#include "workload/trace_lines.h"

#include <algorithm>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::workload {
namespace {

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<std::string> read_line(std::string_view line, const LineReader& reader) {
  if (line.size() <= limits::trace_line_bytes_max) return reader(line);
  return str("the line has ", line.size(), " bytes; the most is ", limits::trace_line_bytes_max);
}

}  // namespace

std::vector<TraceError> read_lines(std::string_view text, const LineReader& header, const LineReader& row) {
  if (text.size() > limits::trace_bytes_max) {
    return {{1, str("the trace has ", text.size(), " bytes; the most is ", limits::trace_bytes_max)}};
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark, as spreadsheets write it
  std::vector<TraceError> errors;
  std::size_t number = 0, lines = 0;
  while (!text.empty() && errors.size() < limits::errors_reported_max) {
    const std::string_view line = take_line(text);
    ++number;
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    if (lines > limits::trace_rows_max) {
      errors.push_back({number, str("more rows than ", limits::trace_rows_max, "; split the trace")});
      break;
    }
    auto problem = read_line(line, lines++ == 0 ? header : row);
    if (problem) errors.push_back({number, std::move(*problem)});
    if (problem && lines == 1) return errors;  // without a header no row can be judged
  }
  if (lines == 0) errors.push_back({1, "the trace is empty; it must start with its header"});
  if (lines == 1) errors.push_back({number, "the trace has a header but no rows"});
  return errors;
}

std::size_t count_fields(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count(line, ',')) + 1;
}

std::string_view take_field(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(','), rest.size());
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return field;
}

std::optional<std::string> read_count(std::string_view what, std::string_view field, std::uint32_t& out) {
  const std::optional<std::int64_t> value = parse_int(field);
  if (!value || *value < 0 || *value > limits::trace_count_max) {
    return str(what, " is '", printable(field), "'; it must be a whole number from 0 to ", limits::trace_count_max);
  }
  out = static_cast<std::uint32_t>(*value);
  return std::nullopt;
}

std::string describe(std::span<const TraceError> errors, std::string_view file) {
  std::string out;
  for (const TraceError& error : errors)
    out += str(out.empty() ? "" : "\n", file, ':', error.line, ": ", error.message);
  return out;
}

}  // namespace sluice::workload
