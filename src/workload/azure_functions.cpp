#include "workload/azure_functions.h"

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::workload {
namespace {

using Problem = std::optional<std::string>;
constexpr std::string_view kNames[] = {"HashOwner", "HashApp", "HashFunction", "Trigger"};
constexpr std::size_t kNamed = std::size(kNames);

Problem read_minute(std::string_view field, AzureFunctions& out) {
  std::uint32_t minute = 0;
  if (Problem problem = read_count("the header of a minute", field, minute)) return problem;
  if (out.minutes == 0) out.first_minute = minute;
  const std::int64_t expected = out.first_minute + static_cast<std::int64_t>(out.minutes++);
  if (minute == expected) return std::nullopt;
  return str("the header has minute ", minute, " where ", expected, " must follow");
}

Problem read_header(std::string_view line, AzureFunctions& out) {
  std::string_view rest = line;
  for (const std::string_view name : kNames) {
    const std::string_view field = take_field(rest);
    if (field == name) continue;
    return str("the header has '", printable(field), "' where ", name,
               " must be; it starts HashOwner,HashApp,HashFunction,Trigger and continues with minutes");
  }
  const std::size_t fields = count_fields(line);
  if (fields <= kNamed) return "the header has no minutes";
  for (std::size_t i = kNamed; i < fields; ++i) {
    if (Problem problem = read_minute(take_field(rest), out)) return problem;
  }
  return std::nullopt;
}

Problem read_row(std::string_view line, AzureFunctions& out) {
  if (const std::size_t fields = count_fields(line); fields != kNamed + out.minutes) {
    return str("the row has ", fields, " fields, the header has ", kNamed + out.minutes);
  }
  (void)take_field(line);  // owner
  (void)take_field(line);  // app
  const std::string_view function = take_field(line);
  (void)take_field(line);  // trigger
  if (function.empty() || function.size() > limits::name_length_max) {
    return str("HashFunction has ", function.size(), " bytes; it must have 1 to ", limits::name_length_max);
  }
  FunctionCounts row{.function = std::string(function), .minutes = std::vector<std::uint32_t>(out.minutes)};
  for (std::size_t i = 0; i < out.minutes; ++i) {
    const std::string_view field = take_field(line);
    const std::int64_t minute = out.first_minute + static_cast<std::int64_t>(i);
    if (Problem problem = read_count("", field, row.minutes[i])) return str("the count of minute ", minute, *problem);
  }
  out.rows.push_back(std::move(row));
  return std::nullopt;
}

}  // namespace

AzureFunctions read_azure_functions(std::string_view text) {
  AzureFunctions out;
  out.errors = read_lines(
      text, [&](std::string_view line) { return read_header(line, out); },
      [&](std::string_view line) { return read_row(line, out); });
  return out;
}

}  // namespace sluice::workload
