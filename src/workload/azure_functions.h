// Reads the invocation counts of the Azure Functions trace 2019 and of samples of it: HashOwner, HashApp, HashFunction,
// Trigger and a column for each minute, a row for each function. Text in, rows out; files are opened elsewhere.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/trace_lines.h"

namespace sluice::workload {

struct FunctionCounts {
  std::string function;                // HashFunction; two rows may have the same
  std::vector<std::uint32_t> minutes;  // invocations in each
  friend bool operator==(const FunctionCounts&, const FunctionCounts&) = default;
};

struct AzureFunctions {
  std::int64_t first_minute = 0;     // the name of the first column of minutes; the others follow one by one
  std::size_t minutes = 0;           // of every row
  std::vector<FunctionCounts> rows;  // in the order of the file; to be used only if ok()
  std::vector<TraceError> errors;
  [[nodiscard]] bool ok() const { return errors.empty(); }
};

[[nodiscard]] AzureFunctions read_azure_functions(std::string_view text);

}  // namespace sluice::workload
