// What the readers of CSV traces share: lines with numbers, limits, and a list of everything that is wrong.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::workload {

struct TraceError {
  std::size_t line = 0;  // from 1
  std::string message;
  friend bool operator==(const TraceError&, const TraceError&) = default;
};

// Reads one line, without its end; returns what is wrong with it, or nothing.
using LineReader = std::function<std::optional<std::string>(std::string_view line)>;

// Gives `header` the first line and `row` every other one; blank lines are skipped. At most
// limits::errors_reported_max errors, by line; nothing is read after a wrong header or limits::trace_rows_max rows.
[[nodiscard]] std::vector<TraceError> read_lines(std::string_view text, const LineReader& header,
                                                 const LineReader& row);

[[nodiscard]] std::size_t count_fields(std::string_view line);
// The text of `rest` before its first comma; `rest` keeps what is behind it.
[[nodiscard]] std::string_view take_field(std::string_view& rest);
// A whole number from 0 to limits::trace_count_max, or an error text that starts with `what`.
[[nodiscard]] std::optional<std::string> read_count(std::string_view what, std::string_view field, std::uint32_t& out);

// "trace.csv:12: …", a line for each.
[[nodiscard]] std::string describe(std::span<const TraceError> errors, std::string_view file);

}  // namespace sluice::workload
